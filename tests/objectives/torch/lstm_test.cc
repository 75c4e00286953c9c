// The language model against its equations, and on text whose entropy is known.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "objectives/registry.h"
#include "objectives/torch/models.h"
#include "objectives/torch/network_objective.h"
#include "objectives/torch/texts.h"
#include "tests/objectives/torch/images.h"
#include "tests/objectives/torch/markov_text.h"

namespace residuum::testing {
namespace {

using ::testing::HasSubstr;
using Values = std::vector<double>;

ObjectiveContext no_files_alone() { return {.data_dir = {}, .cache_dir = {}, .workers = 1}; }

TextDataset text_of(const std::string& train) {
  return make_text({.name = "t", .train = train, .test = train}, TextLevel::character, {});
}

/// One sequence of three characters and its successor; 3 of 4 words (the fourth is <unk>).
NetworkObjective tiny(const LstmSizes& sizes) {
  return {text_samples(text_of("abca"), 3), lstm(sizes)};
}

constexpr LstmSizes kTinyLstm{
    .vocabulary = 4, .sequence = 3, .embedding = 2, .hidden = 3, .layers = 2};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The parameters by their names.
class Parameters {
 public:
  Parameters(const std::vector<Layer>& layers, const Values& w) : layers_(layers), w_(w) {}

  /// Row `row` of a matrix times x.
  double product(const std::string& name, std::size_t row, const Values& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += at(name, row * x.size() + i) * x[i];
    }
    return sum;
  }
  double at(const std::string& name, std::size_t i) const {
    for (const Layer& layer : layers_) {
      if (layer.name == name) {
        return w_[layer.offset + i];
      }
    }
    ADD_FAILURE() << name;
    return 0;
  }

 private:
  const std::vector<Layer>& layers_;
  const Values& w_;
};

/// i, f, o = sigmoid, g = tanh of W x + b + U h + c; cell = f cell + i g; h = o tanh(cell).
void step(
    const Parameters& of, const std::string& layer, const Values& x, Values& h, Values& cell) {
  const std::size_t hidden = h.size();
  const auto gate = [&](std::size_t row) {
    return of.product("lstm.weight_ih" + layer, row, x) + of.at("lstm.bias_ih" + layer, row) +
           of.product("lstm.weight_hh" + layer, row, h) + of.at("lstm.bias_hh" + layer, row);
  };
  Values next(hidden);
  for (std::size_t j = 0; j < hidden; ++j) {
    const double in = sigmoid(gate(j));
    const double keep = sigmoid(gate(hidden + j));
    const double fresh = std::tanh(gate(2 * hidden + j));
    const double out = sigmoid(gate(3 * hidden + j));
    cell[j] = keep * cell[j] + in * fresh;
    next[j] = out * std::tanh(cell[j]);
  }
  h = next;
}

TEST(Lstm, LosesWhatItsRecursionGivesWhenComputedByHand) {
  const auto objective = tiny(kTinyLstm);
  const auto layers = objective.layers();
  const Values w = start(objective, 4);
  const Parameters of(layers, w);
  const std::vector<std::size_t> tokens{0, 1, 2, 0};

  Values h1(3);
  Values c1(3);
  Values h2(3);
  Values c2(3);
  double loss = 0;
  for (std::size_t t = 0; t < 3; ++t) {
    const Values x{of.at("embedding.weight", 2 * tokens[t]),
                   of.at("embedding.weight", 2 * tokens[t] + 1)};
    step(of, "_l0", x, h1, c1);
    step(of, "_l1", h1, h2, c2);
    double total = 0;
    double own = 0;
    for (std::size_t word = 0; word < 4; ++word) {
      const double logit = of.product("decoder.weight", word, h2) + of.at("decoder.bias", word);
      total += std::exp(logit);
      own = word == tokens[t + 1] ? logit : own;
    }
    loss += (std::log(total) - own) / 3;
  }

  EXPECT_NEAR(full_loss(objective, w), loss, 1e-14);
}

TEST(Lstm, HasTheParametersOfItsLayers) {
  EXPECT_EQ(tiny(kTinyLstm).dimension(),
            4U * 2 + (12 * 2 + 12 * 3 + 24) + (12 * 3 + 12 * 3 + 24) + 4 * 3 + 4);
}

TEST(Lstm, StartsAsTorchDoes) {
  const LstmSizes sizes{
      .vocabulary = 4, .sequence = 3, .embedding = 2000, .hidden = 64, .layers = 2};
  const auto objective = tiny(sizes);
  const auto w = start(objective, 1);

  for (const Layer& layer : objective.layers()) {
    double squares = 0;
    double largest = 0;
    for (std::size_t i = layer.offset; i < layer.offset + layer.size; ++i) {
      squares += w[i] * w[i] / static_cast<double>(layer.size);
      largest = std::max(largest, std::abs(w[i]));
    }
    if (layer.name == "embedding.weight") {
      EXPECT_NEAR(squares, 1, 6 * std::sqrt(2.0 / 8000)) << layer.name;
    } else {
      EXPECT_LE(largest, 0.125) << layer.name;  // 1/sqrt(64)
      if (layer.size > 100) {                   // variance 1/3 of the square; six standard errors
        EXPECT_NEAR(squares * 64 * 3, 1, 6 * std::sqrt(0.8 / static_cast<double>(layer.size)))
            << layer.name;
      }
    }
  }
}

TEST(Lstm, GradientIsTheDifferenceQuotientInEveryCoordinate) {
  const auto objective = tiny(kTinyLstm);
  auto w = start(objective, 3);
  const auto gradient = full_gradient(objective, w);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double at = w[i];
    w[i] = at + kStep;
    const double above = full_loss(objective, w);
    w[i] = at - kStep;
    const double below = full_loss(objective, w);
    w[i] = at;
    ASSERT_NEAR((above - below) / (2 * kStep), gradient[i], 1e-9) << i;
  }
}

TEST(Lstm, IsAMeanOverIndependentSequences) {
  const NetworkObjective objective(
      text_samples(text_of("abcbcaab"), 2),
      lstm({.vocabulary = 4, .sequence = 2, .embedding = 2, .hidden = 3, .layers = 1}));
  const auto w = start(objective, 3);
  Values mean(w.size());
  for (const std::uint32_t sample : all_samples(objective)) {
    const auto gradient = batch_gradient<double>(objective, std::vector{sample}, w);
    for (std::size_t i = 0; i < w.size(); ++i) {
      mean[i] += gradient[i] / 3;
    }
  }
  const auto whole = full_gradient(objective, w);

  EXPECT_EQ(objective.samples(), 3U);
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(mean[i], whole[i], 1e-15);
  }
}

TEST(Lstm, RepeatsTheSameBits) {
  const auto one = make_lstm({"objective", {{"characters", 2000}}}, no_files_alone());
  const auto two = make_lstm({"objective", {{"characters", 2000}}}, no_files_alone());
  const auto w0 = start(*one, 1);
  const std::vector<float> w(w0.begin(), w0.end());
  const auto samples = all_samples(*one);

  const auto gradient = batch_gradient(*one, samples, w);

  EXPECT_EQ(batch_gradient(*one, samples, w), gradient);
  EXPECT_EQ(batch_gradient(*two, samples, w), gradient);
}

TEST(Lstm, LosesAboutTheLogarithmOfTheWordsAtItsStart) {
  const auto objective = make_lstm({"objective", {{"characters", 5000}}}, no_files_alone());

  EXPECT_NEAR(full_loss(*objective, start(*objective, 1)), std::log(17.0), 0.1);
}

TEST(Lstm, LearnsAMarkovChainAndNeverMoreThanItsEntropy) {
  const auto objective = make_lstm(
      {"objective",
       {{"characters", 20000}, {"sequence", 20}, {"embedding", 16}, {"hidden", 24}, {"layers", 1}}},
      no_files_alone());
  const TestResult result = expect_to_learn_the_chain(*objective, 2.0F);
  ASSERT_TRUE(result.perplexity.has_value());
  EXPECT_DOUBLE_EQ(*result.perplexity, std::exp(result.loss));
}

TEST(Lstm, ReadsEveryKeyItDocuments) {
  const Section section("objective",
                        {{"data", "synthetic-text"},
                         {"characters", 3000},
                         {"data_seed", 2},
                         {"level", "character"},
                         {"sequence", 10},
                         {"embedding", 4},
                         {"hidden", 5},
                         {"layers", 3},
                         {"train_samples", 50},
                         {"evaluate_samples", 20},
                         {"evaluate_precision", "float64"},
                         {"test_samples", 7}});
  const auto objective = make_lstm(section, no_files_alone());

  EXPECT_NO_THROW(section.finish());
  EXPECT_EQ(objective->samples(), 50U);
  EXPECT_EQ(objective->evaluated().size(), 20U);
  EXPECT_THAT(objective->data().note, HasSubstr("the first 50 of 299 sequences"));
  EXPECT_THAT(objective->data().note, HasSubstr("each from a zero state"));
}

TEST(Lstm, RejectsATextThatIsShorterThanOneSequence) {
  EXPECT_EQ(mistake([] {
              make_lstm({"objective", {{"characters", 30}}}, no_files_alone());
            }),
            "'synthetic-text' has 30 characters to train on; one sequence of 32 and its last "
            "successor need 33; take a longer text or a smaller 'objective.sequence'");
}

TEST(Lstm, RejectsSizesThatAreNone) {
  for (const char* key : {"sequence", "embedding", "hidden", "layers"}) {
    EXPECT_THAT(mistake([&] {
                  make_lstm({"objective", {{key, 0}}}, no_files_alone());
                }),
                HasSubstr(std::string("'objective.") + key + "' must lie in 1.."));
  }
  EXPECT_THAT(mistake([] {
                make_lstm({"objective", {{"hidden", 60000}}}, no_files_alone());
              }),
              HasSubstr("at most 2^32 - 1 can be numbered"));
  EXPECT_THAT(mistake([] {
                make_lstm({"objective", {{"train_samples", 10000}}}, no_files_alone());
              }),
              HasSubstr("'objective.train_samples' must be between 1 and the 624 sequences of 32"));
  EXPECT_THAT(mistake([] {
                make_lstm({"objective", {{"test_samples", -1}}}, no_files_alone());
              }),
              HasSubstr("'objective.test_samples' must be at least 1, or 0 for all, got -1"));
  EXPECT_THAT(mistake([] {
                make_lstm({"objective", {{"data", "mnist"}}}, no_files_alone());
              }),
              HasSubstr("'mnist' holds images"));
}

TEST(Lstm, ReadsAPathByWords) {
  const auto file = std::filesystem::path(::testing::TempDir()) / "residuum_lstm_words.txt";
  std::ofstream(file) << "the cat sat\non the mat\nthe end of it\n";
  const auto objective = make_lstm(
      {"objective", {{"data", file.string()}, {"level", "word"}, {"sequence", 3}, {"hidden", 4}}},
      no_files_alone());

  EXPECT_EQ(objective->data().name, "residuum_lstm_words.txt");
  EXPECT_THAT(objective->data().note, HasSubstr("12 words to train on, 1 held out"));
  EXPECT_EQ(objective->samples(), 3U);
  EXPECT_FALSE(objective->test(start(*objective, 1)).has_value());  // one word is no sequence
}

}  // namespace
}  // namespace residuum::testing
