// z is followed where a probe looks at it, and what else is measured does not depend on it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/experiments/real_study.h"

namespace residuum {
namespace {

constexpr const char* kMomentum =
    "momentum = 0.5\n";  // a key of [step], which the study begins with

std::string study_with(const std::string& name,
                       const std::string& probes,
                       const std::string& more) {
  return "schema = 1\nname = \"" + name + "\"\n" + "[step]\nvalue = 0.1\n" +
         (more == kMomentum ? more : "") + R"([objective]
kind = "quadratic"
dimension = 12
[workers]
count = 3
[sparsifier]
kind = "top-k"
k = 2
[aggregator]
kind = "gtopk-tree"
[budget]
iterations = 10
[probes]
times = false
every = 3
)" + probes +
         (more == kMomentum ? "" : more);
}

std::string rows_of(const TemporaryFolder& folder, const std::string& name) {
  return read_text(folder.path() / "results" / name / "iterations.csv");
}

/// `more` has what changes how z moves.
class FollowedIterate : public testing::TestWithParam<const char*> {};

TEST_P(FollowedIterate, ChangesNoOtherColumn) {
  const TemporaryFolder folder;
  const std::string more = GetParam();
  folder.write(
      "with.toml",
      study_with("with", "names = [\"delta\", \"residual\", \"xi\", \"contraction\"]\n", more));
  folder.write("without.toml",
               study_with("without", "names = [\"delta\", \"residual\", \"xi\"]\n", more));
  for (const char* study : {"with.toml", "without.toml"}) {
    const Finished run = residuum_program({"run", study, "--progress=none"}, folder.path());
    ASSERT_EQ(run.code, 0) << run.err;
  }
  const std::string with = rows_of(folder, "with");
  const std::string without = rows_of(folder, "without");
  for (const char* same : {"iteration",
                           "loss",
                           "delta",
                           "xi",
                           "residual_norm_sq",
                           "total_error",
                           "accumulator_norm_sq"}) {
    const auto values = column(with, same);
    EXPECT_EQ(values, column(without, same)) << same;
    EXPECT_TRUE(std::any_of(values.begin(), values.end(), [](const auto& text) {
      return !text.empty();
    })) << same;
  }
  const auto gaps = column(with, "gap_norm_sq");
  EXPECT_TRUE(
      std::all_of(gaps.begin(), gaps.end(), [](const auto& text) { return !text.empty(); }));
  const auto no_gaps = column(without, "gap_norm_sq");
  EXPECT_TRUE(
      std::all_of(no_gaps.begin(), no_gaps.end(), [](const auto& text) { return text.empty(); }));
}

INSTANTIATE_TEST_SUITE_P(Updates,
                         FollowedIterate,
                         testing::Values("",
                                         kMomentum,
                                         "[feedback]\nkind = \"ef21\"\n",
                                         "[protocol]\nkind = \"local\"\nperiod = 2\n"));

}  // namespace
}  // namespace residuum
