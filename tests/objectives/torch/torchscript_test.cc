// Modules from TorchScript files against what PyTorch itself computes of them, and files that are
// refused. script_models.py writes them; without Python's torch the tests are skipped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

#include "objectives/data/npy.h"
#include "objectives/registry.h"
#include "objectives/torch/models.h"
#include "tests/objectives/torch/images.h"

namespace residuum::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

class Torchscript : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = fs::path(::testing::TempDir()) / ("residuum_script_" + std::to_string(getpid()));
    fs::create_directories(folder_);
    const std::string command = "/usr/bin/python3 '" RESIDUUM_SCRIPT_MODELS "' '" +
                                folder_.string() + "' >'" + folder_.string() + "/log' 2>&1";
    has_python_ = std::system("/usr/bin/python3 -c 'import torch, numpy' >/dev/null 2>&1") == 0;
    if (has_python_) {
      ASSERT_EQ(std::system(command.c_str()), 0) << "see " << folder_ / "log";
    }
  }
  static void TearDownTestSuite() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  void SetUp() override {
    if (!has_python_) {
      GTEST_SKIP() << "/usr/bin/python3 has no torch (Debian's python3-torch)";
    }
  }

  static std::string file(const std::string& name) { return (folder_ / name).string(); }

  /// The objective with these settings, in which values that end in .pt or .npy are files.
  static std::unique_ptr<Objective> objective(nlohmann::json settings) {
    settings["device"] = "cpu";
    for (auto& value : settings) {
      const std::string text = value.is_string() ? value.get<std::string>() : "";
      if (text.ends_with(".pt") || text.ends_with(".npy")) {
        value = file(text);
      }
    }
    const Section section("objective", settings);
    auto made = make_torchscript(section, {.data_dir = {}, .cache_dir = {}, .workers = 2});
    section.finish();
    return made;
  }

  static nlohmann::json classified(const std::string& model) {
    return {{"model", model}, {"data", "x.npy"}, {"labels", "classes.npy"}};
  }

  static std::vector<double> numbers(const std::string& name) {
    const NpyArray array = read_npy_array(file(name));
    std::vector<double> all(array.samples());
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = array.number(i);
    }
    return all;
  }

  static fs::path folder_;
  static bool has_python_;
};
fs::path Torchscript::folder_;
bool Torchscript::has_python_ = false;

std::vector<std::uint32_t> first_samples(std::size_t count) {
  std::vector<std::uint32_t> samples(count);
  std::iota(samples.begin(), samples.end(), 0U);
  return samples;
}

template <class Real>
std::vector<double> gradient_at_start(const Objective& objective, std::size_t count) {
  const std::vector<double> begin = start(objective, 1);
  const std::vector<Real> w(begin.begin(), begin.end());
  const std::vector<Real> gradient = batch_gradient<Real>(objective, first_samples(count), w);
  return {gradient.begin(), gradient.end()};
}

TEST_F(Torchscript, GradientsHaveTheBitsOfPyTorch) {
  for (const char* const loss : {"cross-entropy", "mean-squared-error"}) {
    auto settings = classified("mlp.pt");
    settings["loss"] = loss;
    settings["labels"] = loss == std::string("cross-entropy") ? "classes.npy" : "targets.npy";
    const auto mlp = objective(settings);
    for (const std::size_t count : {30, 32}) {
      const std::string name = loss + ("-" + std::to_string(count));
      EXPECT_EQ(gradient_at_start<float>(*mlp, count), numbers(name + "-float32.npy")) << name;
      EXPECT_EQ(gradient_at_start<double>(*mlp, count), numbers(name + "-float64.npy")) << name;
    }
  }
}

TEST_F(Torchscript, ALossOfTheModulesOwnHasTheGradientOfTheSameLossHere) {
  auto settings = classified("own_loss.pt");
  settings["loss"] = "output";
  const auto own = objective(settings);
  const auto mlp = objective(classified("mlp.pt"));

  EXPECT_EQ(gradient_at_start<float>(*own, 30), numbers("cross-entropy-30-float32.npy"));
  const std::vector<double> w = start(*mlp, 1);
  EXPECT_NEAR(full_loss(*own, w), full_loss(*mlp, w), 1e-6);  // float32
  EXPECT_FALSE(own->facts().lower_bound.has_value());
  EXPECT_EQ(mlp->facts().lower_bound, 0.0);
}

TEST_F(Torchscript, ParametersAreLayersUnderTheirNamesAndTheStartIsTheFiles) {
  const auto mlp = objective(classified("mlp.pt"));
  std::vector<std::string> names;
  for (const Layer& layer : mlp->layers()) {
    names.push_back(layer.name);
  }
  EXPECT_THAT(names,
              ::testing::ElementsAre("hidden.weight", "hidden.bias", "out.weight", "out.bias"));
  EXPECT_EQ(mlp->layers().front().shape, (std::vector<std::int64_t>{5, 6}));
  EXPECT_EQ(mlp->dimension(), 53U);  // 5 * 6 + 5 + 3 * 5 + 3
  EXPECT_EQ(mlp->samples(), 40U);
  EXPECT_FALSE(mlp->facts().starts_from_seed);
  EXPECT_EQ(start(*mlp, 1), start(*mlp, 2));
  EXPECT_EQ(mlp->facts().gradient_bias, "");
}

TEST_F(Torchscript, FrozenParametersAreNone) {
  const auto half = objective(classified("half_frozen.pt"));

  EXPECT_EQ(half->dimension(), 18U);
  EXPECT_EQ(half->layers().front().name, "out.weight");
  const auto whole = gradient_at_start<float>(*objective(classified("mlp.pt")), 32);
  const auto part = gradient_at_start<float>(*half, 32);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.end() - 18));
}

TEST_F(Torchscript, ASharedParameterIsOneLayerWithTheGradientOfAllItsUses) {
  const auto tied =
      objective({{"model", "tied.pt"}, {"data", "tokens.npy"}, {"labels", "next.npy"}});

  EXPECT_EQ(tied->dimension(), 48U);  // 7 * 4 + 4 * 4 + 4
  const auto gradient = gradient_at_start<float>(*tied, 16);
  const auto expected = numbers("tied-gradient.npy");
  ASSERT_EQ(gradient.size(), expected.size());
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    EXPECT_NEAR(gradient[i], expected[i], 1e-7) << i;  // sums of other order, in float32
  }
}

TEST_F(Torchscript, BatchNormalisationMovesTheStatisticsOfTheWorkerByTheModulesMomentum) {
  const auto norm = objective(classified("batch_norm.pt"));
  std::vector<double> statistics(norm->statistics());
  norm->initial_statistics(statistics);
  EXPECT_EQ(statistics, (std::vector<double>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
  const std::vector<double> begin = start(*norm, 1);
  const std::vector<float> w(begin.begin(), begin.end());
  std::vector<float> gradient(w.size());
  const auto samples = first_samples(32);

  norm->stochastic_gradient(
      {.samples = samples, .statistics = statistics}, std::span<const float>(w), gradient);

  EXPECT_EQ(std::vector<double>(gradient.begin(), gradient.end()),
            numbers("batch_norm-gradient.npy"));
  EXPECT_EQ(statistics, numbers("batch_norm-statistics.npy"));
  EXPECT_EQ(norm->facts().gradient_bias, "batch normalisation in training mode");
}

TEST_F(Torchscript, DropoutIsDrawnFromTheSeedWorkerAndIterationOfTheDraw) {
  const auto dropout = objective(classified("dropout.pt"));
  const std::vector<double> w = start(*dropout, 1);
  const auto samples = first_samples(8);
  const auto of = [&](std::uint64_t seed, int worker, std::uint64_t iteration) {
    std::vector<double> gradient(w.size());
    dropout->stochastic_gradient(
        {.seed = seed, .worker = worker, .iteration = iteration, .samples = samples},
        std::span<const double>(w),
        gradient);
    return gradient;
  };

  EXPECT_EQ(of(1, 0, 0), of(1, 0, 0));
  EXPECT_NE(of(1, 0, 0), of(2, 0, 0));
  EXPECT_NE(of(1, 0, 0), of(1, 1, 0));
  EXPECT_NE(of(1, 0, 0), of(1, 0, 1));
  EXPECT_EQ(dropout->facts().gradient_bias, "random layers (dropout) in training mode");
  EXPECT_EQ(full_loss(*dropout, w), full_loss(*dropout, w));
}

// The noise of a batch is measured by its halves: whole = (first + second) / 2, where `first` is
// the gradient that the draw of the half alone has.
TEST_F(Torchscript, TheFirstHalfOfABatchDropsTheSameInTheWhole) {
  const auto dropout = objective(classified("dropout.pt"));
  const std::vector<double> w = start(*dropout, 1);
  const auto samples = first_samples(4);
  const auto of = [&](std::span<const std::uint32_t> drawn, bool first_half) {
    std::vector<double> gradient(w.size());
    dropout->stochastic_gradient({.seed = 1, .samples = drawn, .first_half = first_half},
                                 std::span<const double>(w),
                                 gradient);
    return gradient;
  };
  const auto whole = of(samples, false);
  const auto first = of(std::span(samples).first(2), true);
  const auto second = of(std::span(samples).last(2), true);
  for (std::size_t i = 0; i < w.size(); ++i) {
    EXPECT_NEAR(whole[i], (first[i] + second[i]) / 2, 1e-12) << i;
  }
}

TEST_F(Torchscript, HeldOutSamplesAreTested) {
  auto settings = classified("mlp.pt");
  settings["train_samples"] = 20;
  settings["test_data"] = "x.npy";
  settings["test_labels"] = "classes.npy";
  const auto mlp = objective(settings);
  const auto all = objective(classified("mlp.pt"));
  const std::vector<double> w = start(*mlp, 1);

  EXPECT_EQ(mlp->samples(), 20U);
  const auto result = mlp->test(w);
  ASSERT_TRUE(result);
  EXPECT_NEAR(result->loss, full_loss(*all, w), 1e-12);
  EXPECT_GE(result->accuracy, 0);
  settings["loss"] = "mean-squared-error";
  settings["labels"] = "targets.npy";
  settings["test_labels"] = "targets.npy";
  EXPECT_TRUE(std::isnan(objective(settings)->test(w)->accuracy));
}

TEST_F(Torchscript, AFileThatWasSavedOnCudaRunsOnTheCpu) {
  EXPECT_EQ(gradient_at_start<float>(*objective(classified("cuda.pt")), 32),
            numbers("cross-entropy-32-float32.npy"));
}

TEST_F(Torchscript, FilesThatCannotBeTrainedAreRefusedByName) {
  const auto refusal = [](const std::string& model) {
    return mistake([&] { objective(classified(model)); });
  };
  for (const char* const pickle : {"state_dict.pt", "pickled.pt", "x.npy"}) {
    EXPECT_THAT(refusal(pickle),
                AllOf(HasSubstr(file(pickle) + ": is no TorchScript file ("),
                      HasSubstr("torch.jit.script(module).save")));
  }
  EXPECT_THAT(refusal("absent.pt"), HasSubstr("absent.pt"));
  EXPECT_THAT(refusal("nothing.pt"), HasSubstr("has no parameters, so there is nothing to train"));
  EXPECT_THAT(refusal("frozen.pt"), HasSubstr("all parameters of its module are frozen"));
  EXPECT_THAT(refusal("integers.pt"), HasSubstr("parameter 'table' is of type Long"));
  EXPECT_THAT(refusal("averaging.pt"), HasSubstr("a batch normalisation has momentum=None"));
  EXPECT_THAT(refusal("counts.pt"), HasSubstr("forward() changes the buffer 'calls'"));
  EXPECT_THAT(refusal("always_drops.pt"), HasSubstr("its evaluation is random"));
  EXPECT_THAT(refusal("centred.pt"), HasSubstr("batch normalisation with track_running_stats"));
  EXPECT_THAT(refusal("own_loss.pt"), HasSubstr("forward() takes 2 arguments, and gets 1"));
}

TEST_F(Torchscript, DataThatDoNotFitAreRefused) {
  const auto refusal = [](const char* key, const std::string& value) {
    auto settings = classified("mlp.pt");
    settings[key] = value;
    return mistake([&] { objective(settings); });
  };
  EXPECT_THAT(refusal("data", "narrow.npy"),
              AllOf(HasSubstr("mat1 and mat2 shapes cannot be multiplied"),
                    HasSubstr("narrow.npy' have shape (4)")));
  EXPECT_THAT(refusal("labels", "fewer.npy"), HasSubstr("has 39 labels, and "));
  EXPECT_THAT(refusal("labels", "high.npy"),
              HasSubstr("has label 3, and the module has logits of 3 classes"));
  EXPECT_THAT(refusal("labels", "targets.npy"), HasSubstr("are numbers of classes"));
  EXPECT_THAT(refusal("loss", "output"), HasSubstr("mlp.pt: the module fails: "));
  EXPECT_THAT(refusal("data", "tokens.npy"), HasSubstr("mlp.pt: the module fails: "));
  auto sum = classified("sum_loss.pt");
  sum["loss"] = "output";
  EXPECT_THAT(mistake([&] { objective(sum); }), HasSubstr("use a mean loss"));
  auto squares = classified("mlp.pt");
  squares["loss"] = "mean-squared-error";
  EXPECT_THAT(
      mistake([&] { objective(squares); }),
      HasSubstr("2 samples have 2 targets, and the module returns a tensor of shape (2, 3)"));
}

}  // namespace
}  // namespace residuum::testing
