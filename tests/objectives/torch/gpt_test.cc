// The transformer against its equations, written as loops over numbers, and nanoGPT's sizes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;
using Rows = std::vector<Values>;

ObjectiveContext only_synthetic() { return {.data_dir = {}, .cache_dir = {}, .workers = 1}; }

constexpr GptSizes kTinyGpt{.vocabulary = 4, .sequence = 5, .width = 6, .heads = 2, .layers = 2};

/// Two sequences of five of the characters a, b, c, and <unk>.
NetworkObjective tiny_gpt() {
  return {text_samples(
              make_text(
                  {.name = "t", .train = "abcaabccbab", .test = "abca"}, TextLevel::character, {}),
              5),
          gpt(kTinyGpt)};
}

/// The transformer of the equations, on the tokens of one sequence.
class ByHand {
 public:
  ByHand(const std::vector<Layer>& layers, const Values& w) : layers_(layers), w_(w) {}

  /// Returns the mean cross-entropy of the successors.
  double loss(const std::vector<std::size_t>& tokens) const {
    const std::size_t length = tokens.size() - 1;
    Rows x(length, Values(kWidth));
    for (std::size_t t = 0; t < length; ++t) {
      for (std::size_t i = 0; i < kWidth; ++i) {
        x[t][i] = at("wte.weight", tokens[t] * kWidth + i) + at("wpe.weight", t * kWidth + i);
      }
    }
    for (const std::string layer : {"h.0.", "h.1."}) {
      add(x, attention(layer, normalised(x, layer + "ln_1.weight")));
      add(x, perceptron(layer, normalised(x, layer + "ln_2.weight")));
    }
    return cross_entropy(normalised(x, "ln_f.weight"), tokens);
  }

 private:
  static constexpr std::size_t kWidth = 6;
  static constexpr std::size_t kHeads = 2;
  static constexpr std::size_t kDepth = kWidth / kHeads;

  double at(const std::string& name, std::size_t i) const {
    for (const Layer& layer : layers_) {
      if (layer.name == "transformer." + name) {
        return w_[layer.offset + i];
      }
    }
    ADD_FAILURE() << name;
    return 0;
  }

  /// Row `row` of a matrix times x.
  double product(const std::string& name, std::size_t row, const Values& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += at(name, row * x.size() + i) * x[i];
    }
    return sum;
  }

  Rows times(const std::string& name, const Rows& x, std::size_t width) const {
    Rows products(x.size(), Values(width));
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < width; ++i) {
        products[t][i] = product(name, i, x[t]);
      }
    }
    return products;
  }

  static void add(Rows& x, const Rows& y) {
    for (std::size_t t = 0; t < x.size(); ++t) {
      for (std::size_t i = 0; i < kWidth; ++i) {
        x[t][i] += y[t][i];
      }
    }
  }

  Rows normalised(const Rows& x, const std::string& weight) const {
    Rows result = x;
    for (Values& row : result) {
      double mean = 0;
      double variance = 0;
      for (const double value : row) {
        mean += value / kWidth;
      }
      for (const double value : row) {
        variance += (value - mean) * (value - mean) / kWidth;
      }
      for (std::size_t i = 0; i < kWidth; ++i) {
        row[i] = at(weight, i) * (row[i] - mean) / std::sqrt(variance + 1e-5);
      }
    }
    return result;
  }

  /// Every head of a token looks at this token and those before it.
  Rows attention(const std::string& layer, const Rows& x) const {
    const Rows all = times(layer + "attn.c_attn.weight", x, 3 * kWidth);  // queries, keys, values
    Rows mixed(x.size(), Values(kWidth));
    for (std::size_t head = 0; head < kHeads; ++head) {
      for (std::size_t t = 0; t < x.size(); ++t) {
        Values weights(t + 1);
        double total = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          double score = 0;
          for (std::size_t i = head * kDepth; i < (head + 1) * kDepth; ++i) {
            score += all[t][i] * all[s][kWidth + i];
          }
          weights[s] = std::exp(score / std::sqrt(static_cast<double>(kDepth)));
          total += weights[s];
        }
        for (std::size_t s = 0; s <= t; ++s) {
          for (std::size_t i = head * kDepth; i < (head + 1) * kDepth; ++i) {
            mixed[t][i] += weights[s] / total * all[s][2 * kWidth + i];
          }
        }
      }
    }
    return times(layer + "attn.c_proj.weight", mixed, kWidth);
  }

  Rows perceptron(const std::string& layer, const Rows& x) const {
    Rows wide = times(layer + "mlp.c_fc.weight", x, 4 * kWidth);
    for (Values& row : wide) {
      for (double& value : row) {
        value *= (1 + std::erf(value / std::sqrt(2.0))) / 2;
      }
    }
    return times(layer + "mlp.c_proj.weight", wide, kWidth);
  }

  double cross_entropy(const Rows& x, const std::vector<std::size_t>& tokens) const {
    double loss = 0;
    for (std::size_t t = 0; t < x.size(); ++t) {
      double total = 0;
      for (std::size_t word = 0; word < 4; ++word) {
        total += std::exp(product("wte.weight", word, x[t]));
      }
      const double own = product("wte.weight", tokens[t + 1], x[t]);
      loss += (std::log(total) - own) / static_cast<double>(x.size());
    }
    return loss;
  }

  const std::vector<Layer>& layers_;
  const Values& w_;
};

/// A start whose layers all matter: nanoGPT's is so small that attention is next to uniform.
Values wide_start(const Objective& objective) {
  auto w = start(objective, 4);
  for (const Layer& layer : objective.layers()) {
    for (std::size_t i = layer.offset; i < layer.offset + layer.size; ++i) {
      w[i] *= layer.shape.size() > 1 ? 30 : 1 + 0.1 * static_cast<double>(i % 3);
    }
  }
  return w;
}

TEST(Gpt, LosesWhatItsEquationsGiveWhenComputedByHand) {
  const auto objective = tiny_gpt();
  const auto layers = objective.layers();
  const Values w = wide_start(objective);
  const ByHand by_hand(layers, w);

  const double expected = (by_hand.loss({0, 1, 2, 0, 0, 1}) + by_hand.loss({1, 2, 2, 1, 0, 1})) / 2;

  EXPECT_NEAR(full_loss(objective, w), expected, 1e-13 * expected);
}

TEST(Gpt, GradientIsTheDifferenceQuotientInEveryCoordinate) {
  const auto objective = tiny_gpt();
  Values w = wide_start(objective);
  const auto gradient = full_gradient(objective, w);
  constexpr double kStep = 1e-5;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double at = w[i];
    w[i] = at + kStep;
    const double above = full_loss(objective, w);
    w[i] = at - kStep;
    const double below = full_loss(objective, w);
    w[i] = at;
    ASSERT_NEAR((above - below) / (2 * kStep), gradient[i], 1e-7) << i;
  }
}

TEST(Gpt, HasTheLayersOfNanoGptByTheirNames) {
  const auto layers = tiny_gpt().layers();
  std::vector<std::string> names;
  for (const Layer& layer : layers) {
    names.push_back(layer.name.substr(std::string("transformer.").size()));
  }

  EXPECT_THAT(names,
              ElementsAre("wte.weight",
                          "wpe.weight",
                          "h.0.ln_1.weight",
                          "h.0.attn.c_attn.weight",
                          "h.0.attn.c_proj.weight",
                          "h.0.ln_2.weight",
                          "h.0.mlp.c_fc.weight",
                          "h.0.mlp.c_proj.weight",
                          "h.1.ln_1.weight",
                          "h.1.attn.c_attn.weight",
                          "h.1.attn.c_proj.weight",
                          "h.1.ln_2.weight",
                          "h.1.mlp.c_fc.weight",
                          "h.1.mlp.c_proj.weight",
                          "ln_f.weight"));
  EXPECT_THAT(layers[3].shape, ElementsAre(18, 6));
  EXPECT_THAT(layers[6].shape, ElementsAre(24, 6));
}

// nanoGPT prints 0.80M without the 8192 numbers of positions.
TEST(Gpt, HasAsManyParametersAsNanoGptsModelForACpu) {
  const auto networks =
      gpt({.vocabulary = 65, .sequence = 64, .width = 128, .heads = 4, .layers = 4});
  const auto layers = networks.make_single({})->layers();

  EXPECT_EQ(layers.back().offset + layers.back().size, 804'096U);
}

TEST(Gpt, StartsAsNanoGptDoes) {
  const GptSizes sizes{.vocabulary = 4, .sequence = 5, .width = 64, .heads = 4, .layers = 8};
  const NetworkObjective objective(
      text_samples(make_text({.name = "t", .train = "abcaabccbab"}, TextLevel::character, {}), 5),
      gpt(sizes));
  const auto w = start(objective, 1);

  for (const Layer& layer : objective.layers()) {
    double squares = 0;
    for (std::size_t i = layer.offset; i < layer.offset + layer.size; ++i) {
      squares += w[i] * w[i] / static_cast<double>(layer.size);
    }
    double expected = layer.shape.size() == 1 ? 1 : 0.02 * 0.02;
    expected /= layer.name.ends_with("c_proj.weight") ? 16 : 1;
    const double errors =
        6 * std::sqrt(2 / static_cast<double>(layer.size));  // six standard errors
    EXPECT_NEAR(squares / expected, 1, layer.shape.size() == 1 ? 0 : errors) << layer.name;
  }
}

// Logits are products of rows of length sqrt(128) with rows of wte, of deviation 0.02: that adds
// half of 0.02^2 128. The token that is read is among the words with a larger one, as its own row
// is in x: 128 * 0.02/sqrt(2) beside wpe alone, and less beside what the layers add.
TEST(Gpt, LosesAboutTheLogarithmOfTheWordsAtItsStart) {
  const auto objective = make_gpt({"objective", {{"characters", 5000}}}, only_synthetic());

  const double loss = full_loss(*objective, start(*objective, 1));

  EXPECT_GT(loss, std::log(16.0));
  EXPECT_LT(loss, std::log(15 + std::exp(128 * 0.02 / std::sqrt(2))) + 0.02 * 0.02 * 128 / 2);
}

TEST(Gpt, LearnsAMarkovChainAndNeverMoreThanItsEntropy) {
  const auto objective = make_gpt(
      {"objective",
       {{"characters", 20000}, {"sequence", 20}, {"width", 16}, {"heads", 2}, {"layers", 1}}},
      only_synthetic());
  expect_to_learn_the_chain(*objective, 0.5F);
}

TEST(Gpt, RepeatsTheSameBits) {
  const auto one = make_gpt({"objective", {{"characters", 2000}}}, only_synthetic());
  const auto two = make_gpt({"objective", {{"characters", 2000}}}, only_synthetic());
  const auto w0 = start(*one, 1);
  const std::vector<float> w(w0.begin(), w0.end());
  const auto samples = all_samples(*one);

  const auto gradient = batch_gradient(*one, samples, w);

  EXPECT_EQ(batch_gradient(*one, samples, w), gradient);
  EXPECT_EQ(batch_gradient(*two, samples, w), gradient);
}

// Windows of two tokens and a successor begin at 0, 3 and 6 of ten tokens; the loss of the second
// is that of a text which begins there.
TEST(Gpt, CanTakeAWindowFromEveryFewTokensOn) {
  const GptSizes sizes{.vocabulary = 4, .sequence = 2, .width = 6, .heads = 2, .layers = 2};
  const auto samples_of = [&](const std::string& train, std::size_t stride) {
    return NetworkObjective(
        text_samples(
            make_text({.name = "t", .train = train, .test = "a"}, TextLevel::character, {}),
            2,
            stride),
        gpt(sizes));
  };
  const NetworkObjective strided = samples_of("abcaabccba", 3);
  const NetworkObjective second = samples_of("aabc", 2);
  const auto w = start(strided, 2);

  EXPECT_EQ(strided.samples(), 3U);
  EXPECT_EQ(samples_of("abcaabccba", 1).samples(), 8U);
  EXPECT_EQ(batch_gradient<double>(strided, std::vector{1U}, w),
            batch_gradient<double>(second, std::vector{0U}, w));
}

TEST(Gpt, ReadsEveryKeyItDocuments) {
  const Section section("objective",
                        {{"data", "synthetic-text"},
                         {"characters", 3000},
                         {"data_seed", 2},
                         {"level", "character"},
                         {"sequence", 10},
                         {"stride", 5},
                         {"width", 12},
                         {"heads", 3},
                         {"layers", 3},
                         {"train_samples", 50},
                         {"evaluate_samples", 20},
                         {"evaluate_precision", "float64"},
                         {"test_samples", 7}});
  const auto objective = make_gpt(section, only_synthetic());

  EXPECT_NO_THROW(section.finish());
  EXPECT_EQ(objective->samples(), 50U);
  EXPECT_EQ(objective->dimension(), 12U * (16 + 10 + 1) + 3 * (12 * 12 * 12 + 2 * 12));
}

TEST(Gpt, RejectsSizesThatAreNone) {
  for (const char* key : {"sequence", "width", "heads", "layers"}) {
    EXPECT_THAT(mistake([&] {
                  make_gpt({"objective", {{key, 0}}}, only_synthetic());
                }),
                HasSubstr(std::string("'objective.") + key + "' must lie in 1.."));
  }
  EXPECT_THAT(
      mistake([] {
        make_gpt({"objective", {{"heads", 3}}}, only_synthetic());
      }),
      HasSubstr("'objective.width' must be a multiple of 'objective.heads', got 128 and 3"));
  EXPECT_THAT(mistake([] {
                make_gpt({"objective", {{"width", 16384}, {"layers", 2}}}, only_synthetic());
              }),
              HasSubstr("at most 2^32 - 1 can be numbered"));
}

}  // namespace
}  // namespace residuum::testing
