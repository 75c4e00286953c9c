// The keys of [network] that say how messages overlap with gradients.

#include "experiments/program/study/network_section.h"

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
  const Overlap overlap = read_network(section, 4, {}).overlap;
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

TEST(NetworkSection, RecordsItsKeysAndTheTimesOfLayersThatCount) {
  const auto resolved = [](const NetworkJson& keys) {
    const Section section("network", keys);
    read_network(section, 4, {});
    return section.resolved();
  };
  EXPECT_EQ(resolved({{"model", "1gbe"}}),
            (NetworkJson{{"model", "1gbe"}, {"local", "none"}, {"overlap", "none"}}));
  EXPECT_EQ(
      resolved({{"model", "1gbe"}, {"overlap", "wfbp"}}),
      (NetworkJson{
          {"model", "1gbe"}, {"local", "none"}, {"overlap", "wfbp"}, {"layer_times", "measured"}}));
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

NetworkSection network_of_text(const char* model, Synchrony synchrony = Synchrony::lockstep) {
  const Section section("network", {{"model", NetworkJson::parse(model)}});
  return read_network(section, 4, {.synchrony = synchrony});
}

std::string network_error_of(const char* model, Synchrony synchrony = Synchrony::lockstep) {
  try {
    network_of_text(model, synchrony);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return {};
}

constexpr const char* kLogGpTable =
    R"({"latency_s": 5e-6, "overhead_s": 1e-6, "gap_s": 2e-6, "gap_s_per_byte": 1e-9})";

TEST(NetworkSection, ReadsLinksOfAlphaAndBetaAndOfLogGP) {
  EXPECT_EQ(network_of_text(R"({"alpha_s": 1, "beta_s_per_byte": 0.5})").networks.front().links,
            (LinkModel{.alpha_s = 1, .beta_s_per_byte = 0.5}));
  EXPECT_EQ(network_of_text(kLogGpTable).networks.front().links,
            LinkModel::log_gp(5e-6, 1e-6, 2e-6, 1e-9));
}

TEST(NetworkSection, RefusesTablesThatAreNeitherKindOfLink) {
  for (const char* model :
       {R"({"alpha_s": 1})",
        R"({"alpha_s": 1, "beta_s_per_byte": -1})",
        R"({"alpha_s": 1, "beta_s_per_byte": 1, "gap_s": 1})",
        R"({"latency_s": 1, "overhead_s": 1, "gap_s": 1})",
        R"({"latency_s": 1, "overhead_s": 1, "gap_s": 1, "beta_s_per_byte": 0})",
        R"({"latency_s": "1", "overhead_s": 1, "gap_s": 1, "gap_s_per_byte": 0})"}) {
    EXPECT_THAT(network_error_of(model),
                HasSubstr("'network.model' must be a table {alpha_s, beta"))
        << model;
  }
  EXPECT_THAT(network_error_of(
                  R"({"latency_s": 1e-9, "overhead_s": 0, "gap_s": 1, "gap_s_per_byte": 1e-8})"),
              HasSubstr("latency_s must be at least gap_s_per_byte"));
  EXPECT_THAT(network_error_of(
                  R"({"latency_s": 1e-7, "overhead_s": 0, "gap_s": 1e-9, "gap_s_per_byte": 1e-8})"),
              HasSubstr("gap_s must be at least gap_s_per_byte"));
}

TEST(NetworkSection, NamesNetworksByTheirNumbers) {
  EXPECT_EQ(network_of_text(R"({"alpha_s": 1e-4, "beta_s_per_byte": 9e-9})").networks[0].name,
            "0.0001s+9e-09s/byte");
  EXPECT_EQ(network_of_text(kLogGpTable).networks[0].name,
            "L=5e-06s o=1e-06s g=2e-06s G=1e-09s/byte");
}

// A lag is fixed: clocks tell the time of the run on each network, and decide nothing.
TEST(NetworkSection, HasSeveralNetworksWhereGradientsAreLateByRounds) {
  const Section section("network", {{"model", {"1gbe", "10gbe"}}});
  EXPECT_EQ(
      read_network(section, 4, {.synchrony = Synchrony::late, .in_rounds = true}).networks.size(),
      2U);
  EXPECT_THAT(network_error_of(R"(["1gbe", "10gbe"])", Synchrony::late),
              HasSubstr("late gradients depend on the network"));
}

TEST(NetworkSection, RefusesLogGPWhereGradientsAreLate) {
  EXPECT_THAT(network_error_of(kLogGpTable, Synchrony::late),
              HasSubstr("know links {alpha_s, beta_s_per_byte} alone"));
}

}  // namespace
}  // namespace residuum
