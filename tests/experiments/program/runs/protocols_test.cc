// Protocols with late gradients and with models of neighbours as a user runs them: verdicts of
// their theorems, the columns that they alone have, and times that never end.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/experiments/hostile.h"

namespace residuum {
namespace {

using testing::HasSubstr;

constexpr const char* kQuadratic = R"(schema = 1
name = "protocols"
seeds = 3
[objective]
kind = "quadratic"
precision = "float64"
heterogeneity = 0
[workers]
count = 9
[aggregator]
kind = "allgather"
[step]
value = 0.01
[budget]
iterations = 150
[probes]
every = 1
evaluate = 1
noise_every = 1
[protocol]
)";

class ProtocolRuns : public Hostile {
 protected:
  /// Runs the study with these lines in [protocol]; returns its one group of summary.json.
  nlohmann::json group(const std::string& name, const std::string& protocol) const {
    const Finished finished = run(kQuadratic + protocol, {"--out", name});
    EXPECT_EQ(finished.code, 0) << finished.err;
    return nlohmann::json::parse(read_text(folder_.path() / name / "summary.json"))["groups"][0];
  }
  static nlohmann::json theorem(const nlohmann::json& group, const std::string& name) {
    const auto& all = group["theorems"];
    return *std::find_if(
        all.begin(), all.end(), [&](const auto& one) { return one["name"] == name; });
  }
};

TEST_F(ProtocolRuns, LateGradientsHaveVerdictsByTheirOwnStaleness) {
  const auto ssp = group("ssp", "kind = \"ssp\"\nstaleness = 1\ncompute = \"exponential:1\"\n");
  for (const char* name : {"delayed", "concurrency", "delayed-convex"}) {
    EXPECT_EQ(theorem(ssp, name)["verdict"], "holds") << theorem(ssp, name);
  }
  EXPECT_EQ(theorem(ssp, "bsp")["verdict"], "not applicable");
}

TEST_F(ProtocolRuns, NeighboursHaveVerdictsByWhatIsKnownOfEachWorker) {
  const auto plain = group("plain", "kind = \"gossip\"\ngraph = \"torus\"\n");
  EXPECT_EQ(theorem(plain, "gossip")["verdict"], "holds") << theorem(plain, "gossip");
  EXPECT_EQ(theorem(plain, "gossip-certificate")["verdict"], "holds");
  const auto choco = group("choco",
                           "kind = \"gossip\"\ngraph = \"torus\"\nmixing = \"choco\"\n"
                           "consensus_step = 0.4\n[sparsifier]\nkind = \"top-k\"\ndensity = 0.2\n"
                           "[feedback]\nkind = \"none\"\n");
  EXPECT_EQ(theorem(choco, "gossip-certificate")["verdict"], "holds")
      << "mixing leaves the mean alone: " << theorem(choco, "gossip-certificate");
}

TEST_F(ProtocolRuns, TimesThatNeverEndFailTheRunAndSayWhy) {
  const std::string slow =
      "kind = \"asp\"\ncompute = 1e300\nstraggler_factor = 10\nstraggler_every_s = 1\n"
      "straggler_lasts_s = 1\n";
  const Finished finished = run(kQuadratic + slow, {"--out", "slow"});
  EXPECT_EQ(finished.code, 3);
  EXPECT_THAT(finished.err, HasSubstr("windows of stragglers"));
}

}  // namespace
}  // namespace residuum
