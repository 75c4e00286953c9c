// The keys of [network] that say how messages overlap with gradients.

#include "experiments/study/network_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace residuum {
namespace {

using testing::HasSubstr;
using NetworkJson = nlohmann::json;

Overlap overlap_of(const NetworkJson& keys) {
  const Section section("network", keys);
  const Overlap overlap = read_network(section, 4, Synchrony::lockstep).overlap;
  section.finish();
  return overlap;
}

std::string overlap_error_of(const NetworkJson& keys) {
  try {
    overlap_of(keys);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

TEST(NetworkSection, ReadsTheRuleAndTheTimesOfLayers) {
  EXPECT_EQ(overlap_of({{"model", "1gbe"}}).rule, OverlapRule::none);
  EXPECT_EQ(overlap_of({{"overlap", "wfbp"}}).rule, OverlapRule::wait_free);
  EXPECT_TRUE(overlap_of({{"overlap", "wfbp"}, {"layer_times", "measured"}}).ready.empty());
  const Overlap merged = overlap_of({{"overlap", "merged"}, {"layer_times", {1, 0.25}}});
  EXPECT_EQ(merged.rule, OverlapRule::merged);
  EXPECT_EQ(merged.ready, (std::vector<double>{1, 0.25}));
}

TEST(NetworkSection, LetsASweepHaveLayerTimesBesideNone) {
  const Overlap none = overlap_of({{"overlap", "none"}, {"layer_times", {1, 0.5}}});
  EXPECT_EQ(none.rule, OverlapRule::none);
  EXPECT_TRUE(none.ready.empty());
}

TEST(NetworkSection, RecordsTheKeysOnlyWhereTheyAreGiven) {
  const auto resolved = [](const NetworkJson& keys) {
    const Section section("network", keys);
    read_network(section, 4, Synchrony::lockstep);
    return section.resolved();
  };
  EXPECT_EQ(resolved({{"model", "1gbe"}}), (NetworkJson{{"model", "1gbe"}}))
      << "the ids of such runs stay what they were";
  EXPECT_EQ(resolved({{"model", "1gbe"}, {"overlap", "wfbp"}}),
            (NetworkJson{{"model", "1gbe"}, {"overlap", "wfbp"}, {"layer_times", "measured"}}));
}

TEST(NetworkSection, RefusesTimesThatAreNoFractions) {
  for (const char* times :
       {"[1, 0]", "[1, 1.5]", "[-0.5]", "[\"1\"]", "\"measure\"", "[]", "0.5"}) {
    EXPECT_THAT(overlap_error_of({{"overlap", "wfbp"}, {"layer_times", NetworkJson::parse(times)}}),
                HasSubstr("'network.layer_times' must be \"measured\" or a list of numbers"))
        << times;
  }
  EXPECT_THAT(overlap_error_of({{"overlap", "wfpb"}}), HasSubstr("did you mean 'wfbp'?"));
  EXPECT_THAT(overlap_error_of({{"layer_times", {1, 0.5}}}), HasSubstr("set it to \"wfbp\""));
}

}  // namespace
}  // namespace residuum
