// The fit of a link against lines that are known, and `bench network` as a user starts it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/benchmarks/bench_network.h"
#include "tests/core/thread_world.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

using testing::HasSubstr;

TEST(LinkFit, FindsTheLineThatTheTimesLieOn) {
  const std::vector<double> bytes{8, 1000, 1e6};
  std::vector<double> seconds;
  for (const double n : bytes) {
    seconds.push_back(4.36e-4 + 9e-9 * n);
  }
  const LinkFit fit = fit_link(bytes, seconds);
  EXPECT_NEAR(fit.link.alpha_s, 4.36e-4, 1e-15);
  EXPECT_NEAR(fit.link.beta_s_per_byte, 9e-9, 1e-20);
  EXPECT_NEAR(fit.largest_factor, 1, 1e-12);
}

// Times 1, 2, 5 of 1, 2, 3 bytes: the line through the first two is off by a factor of 5/3, that
// through the outer ones by 3/2, and that through the last two has a negative time.
TEST(LinkFit, IsTheLineWhoseTimesAreOffByTheSmallestFactors) {
  const LinkFit fit = fit_link(std::vector<double>{1, 2, 3}, std::vector<double>{1, 2, 5});
  EXPECT_NEAR(fit.link.alpha_s, -1, 1e-12);
  EXPECT_NEAR(fit.link.beta_s_per_byte, 2, 1e-12);
  EXPECT_NEAR(fit.largest_factor, 1.5, 1e-12);
  EXPECT_EQ(fit.at_bytes, 2);
}

// A token bucket lets messages up to its size pass at once.
TEST(LinkFit, IsNotMovedBySizesThatPassInABurst) {
  const std::vector<double> bytes{8, 64, 512, 4096, 16384, 262144, 1e6, 4e6};
  std::vector<double> seconds;
  for (const double n : bytes) {
    const bool is_burst = n == 4096 || n == 16384;
    seconds.push_back(2e-5 + (is_burst ? 0 : 8e-8 * n));
  }
  const LinkFit fit = fit_link(bytes, seconds);
  EXPECT_NEAR(fit.link.alpha_s, 2e-5, 1e-10);
  EXPECT_NEAR(fit.link.beta_s_per_byte, 8e-8, 1e-13);
  EXPECT_EQ(fit.at_bytes, 16384);
}

TEST(LinkFit, IsMadeOncePerSweepOnTheRoot) {
  test::on_processes(3, [](World& world) {
    for (int peer = 1; peer < 3; ++peer) {
      const auto fits = measure_link(world, peer, 2);
      EXPECT_EQ(fits.size(), world.is_root() ? 2U : 0U);
      for (const LinkFit& fit : fits) {
        EXPECT_TRUE(std::isfinite(fit.link.alpha_s) && std::isfinite(fit.link.beta_s_per_byte));
      }
    }
  });
}

class BenchNetwork : public testing::Test {
 protected:
  Finished on(int processes, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> command{"mpirun", "-n", std::to_string(processes)};
    command.insert(command.end(), {RESIDUUM_PROGRAM, "bench", "network"});
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command, folder_.path());
  }
  TemporaryFolder folder_;
};

TEST_F(BenchNetwork, SaysAlphaAndBetaOfEveryLinkWithIntervals) {
  const Finished finished = on(3, {"--json"});
  ASSERT_EQ(finished.code, 0) << finished.err;
  const auto lines = nlohmann::json::parse(finished.out);
  ASSERT_EQ(lines.size(), 4U);
  for (const auto& line : lines) {
    EXPECT_LE(line["interval"][0].get<double>(), line["interval"][1].get<double>());
    EXPECT_EQ(line["n"], 11);
  }
  EXPECT_EQ(lines[3]["name"], "beta between ranks 0 and 2");
  EXPECT_EQ(lines[3]["unit"], "s/byte");
}

TEST_F(BenchNetwork, EndsWithASectionForAStudy) {
  const Finished finished = on(2);
  ASSERT_EQ(finished.code, 0) << finished.err;
  EXPECT_THAT(finished.out, HasSubstr("[network]\nmodel = { alpha_s = "));
}

TEST_F(BenchNetwork, NeedsTwoProcesses) {
  const Finished finished = residuum_program({"bench", "network"}, folder_.path());
  EXPECT_EQ(finished.code, 2);
  EXPECT_THAT(finished.err, HasSubstr("mpirun -n 2 residuum bench network"));
}

}  // namespace
}  // namespace residuum
