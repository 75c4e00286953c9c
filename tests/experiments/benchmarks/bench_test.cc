// The command `bench`: what it says, not how fast anything is.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/vectors/cuda/device.h"
#include "core/vectors/kernels.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class Bench : public testing::Test {
 protected:
  TemporaryFolder folder_;
};

TEST_F(Bench, PrintsLinesOfTheContract) {
  const auto finished = residuum_program({"bench", "triad", "--json"}, folder_.path());

  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = nlohmann::json::parse(finished.out);
  ASSERT_FALSE(lines.empty());
  for (const auto& line : lines) {
    for (const char* key : {"id",
                            "name",
                            "value",
                            "unit",
                            "baseline",
                            "ratio",
                            "target",
                            "met",
                            "spread",
                            "n",
                            "simd"}) {
      EXPECT_TRUE(line.contains(key)) << key;
    }
    EXPECT_EQ(line["unit"], "ms");
    EXPECT_GT(line["value"].get<double>(), 0);
    EXPECT_GE(line["n"].get<int>(), 3);
  }
}

TEST_F(Bench, SaysWhatItsNumbersDependOn) {
  const auto finished = residuum_program({"bench", "triad"}, folder_.path());

  for (const char* name : {"CPU ", "GPU ", "compiler ", "BLAS ", "libtorch ", "one thread"}) {
    EXPECT_THAT(finished.out, HasSubstr(name));
  }
}

std::set<std::string> targets_of(const std::string& json) {
  std::set<std::string> targets;
  for (const auto& line : nlohmann::json::parse(json)) {
    targets.insert(line["simd"].get<std::string>());
  }
  return targets;
}

TEST_F(Bench, MeasuresOneTargetOfTheProcessor) {
  const std::string worst = kernels::target_names().back();

  const auto finished =
      residuum_program({"bench", "triad", "--simd", worst.c_str(), "--json"}, folder_.path());

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(targets_of(finished.out), std::set{worst});
}

TEST_F(Bench, MeasuresAllTargetsOfTheProcessor) {
  const auto names = kernels::target_names();

  const auto finished =
      residuum_program({"bench", "triad", "--simd", "all", "--json"}, folder_.path());

  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_EQ(targets_of(finished.out), std::set(names.begin(), names.end()));
}

TEST_F(Bench, NamesTheTargetsWhereOneIsUnknown) {
  const auto finished = residuum_program({"bench", "triad", "--simd", "AVX9"}, folder_.path());

  EXPECT_EQ(finished.code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err,
            fmt::format("error: --simd: must be all, or one that this build and this processor "
                        "have: {}; got 'AVX9'; see residuum bench --help\n",
                        fmt::join(kernels::target_names(), ", ")));
}

TEST_F(Bench, RefusesWhatNeedsADeviceWithoutOne) {
  if (cuda::available()) {
    GTEST_SKIP() << "there is a CUDA device";
  }
  const auto finished = residuum_program({"bench", "cuda"}, folder_.path());

  EXPECT_EQ(finished.code, 6);
  EXPECT_EQ(finished.err,
            "error: benchmark 'cuda' needs a CUDA device and a build with nvcc; here is none\n");
}

TEST_F(Bench, NamesWhatNeedsLibtorchInABuildWithoutIt) {
  if (networks_are_built()) {
    GTEST_SKIP() << "this build has libtorch";
  }
  const auto finished = residuum_program({"bench", "select"}, folder_.path());

  EXPECT_EQ(finished.code, 6);
  EXPECT_THAT(finished.err, StartsWith("error: the benchmark 'select' needs libtorch"));
}

TEST_F(Bench, NamesTheNearestGroup) {
  const auto finished = residuum_program({"bench", "logistics"}, folder_.path());

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("did you mean 'logistic'?"));
}

TEST_F(Bench, SaysWhatToBuildWhereItsProgramIsNotBesideThisOne) {
  const auto finished = run_program({RESIDUUM_FAULTY_PROGRAM, "bench", "triad"}, folder_.path());

  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("--target residuum-bench"));
}

}  // namespace
}  // namespace residuum
