// Protocols with late gradients: what they refuse, and the laws that they declare.

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "core/protocols/late_protocol.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

using test::Json;
using test::Recipe;

std::unique_ptr<Protocol> late_protocol(const Json& section) {
  return make_protocol(Section("protocol", section));
}

void expect_refused(const Json& section, const Recipe& recipe, int workers, const char* reason) {
  try {
    late_protocol(section)->check(test::method_of(recipe, 12), 12, workers);
    FAIL() << "not refused: " << reason;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(LateProtocols, WhatCannotWorkIsRefusedWithTheReason) {
  const Json top{{"kind", "top-k"}, {"k", 2}};
  const Json asp{{"kind", "asp"}};
  expect_refused(
      asp, {.sparsifier = top, .aggregator = {{"kind", "gtopk-tree"}}}, 4, "drops entries of sums");
  expect_refused(asp, {.sparsifier = top, .feedback = {{"kind", "dgc"}}}, 4, "velocities");
  expect_refused(
      asp,
      {.sparsifier = top, .aggregator = {{"kind", "allgather"}}, .feedback = {{"kind", "ef21"}}},
      4,
      "estimates");
  expect_refused(
      asp,
      {.sparsifier = {{"kind", "rand-k"}, {"k", 2}}, .aggregator = {{"kind", "allgather"}}},
      4,
      "per-worker");
  expect_refused({{"kind", "asp"}, {"speeds", {1, 2}}}, {}, 4, "2 speeds for 4 workers");
  expect_refused({{"kind", "inhad"}, {"nodes", 3}, {"quota", 1}}, {}, 4, "evenly on 3 nodes");
  expect_refused({{"kind", "inhad"}, {"nodes", 2}, {"quota", 9}, {"cap", 2}}, {}, 4, "never pull");
  expect_refused({{"kind", "inhad"}, {"nodes", 2}, {"quota", 40001}, {"cap", "unlimited"}},
                 {},
                 4,
                 "a quota of 40001 asks 4 workers for more; lower the quota");
  expect_refused(
      {{"kind", "inhad"}, {"nodes", 2}, {"quota", 4}, {"staleness", 0}, {"cap", "unlimited"}},
      {},
      4,
      "never pull");
}

TEST(LateProtocols, KeysThatAreOutOfRangeAreUsageErrors) {
  for (const auto& [section, reason] : std::vector<std::pair<Json, const char*>>{
           {{{"kind", "ssp"}, {"staleness", -1}}, "at least 0"},
           {{{"kind", "ssp"}}, "missing"},
           {{{"kind", "ssp"}, {"staleness", 1.5}}, "whole number"},
           {{{"kind", "asp"}, {"compute", "gauss:1"}}, "exponential:MEAN"},
           {{{"kind", "asp"}, {"compute", "lognormal:0,1"}}, "exponential:MEAN"},
           {{{"kind", "asp"}, {"compute", "lognormal:inf,1"}}, "exponential:MEAN"},
           {{{"kind", "asp"}, {"compute", "lognormal:1e-310,1"}}, "exponential:MEAN"},
           {{{"kind", "asp"}, {"compute", "pareto:1,x"}}, "exponential:MEAN"},
           {{{"kind", "asp"}, {"compute", -1}}, ">= 0"},
           {{{"kind", "asp"}, {"compute", "exponential:0"}}, "> 0"},
           {{{"kind", "asp"}, {"speeds", {1, 0}}}, "positive numbers"},
           {{{"kind", "asp"}, {"straggler_factor", 0.5}}, "at least 1"},
           {{{"kind", "asp"}, {"straggler_factor", 2}, {"straggler_every_s", 0}}, "positive"},
           {{{"kind", "asp"}, {"straggler_lasts_s", -1}}, "positive"},
           {{{"kind", "inhad"}, {"nodes", 0}, {"quota", 1}}, "1..1000000000"},
           {{{"kind", "inhad"}, {"nodes", 2}, {"quota", 1}, {"cap", 0}}, "at least 1"},
           {{{"kind", "inhad"}, {"nodes", 2}, {"quota", 1}, {"cap", 10001}}, "at most 10000"},
           {{{"kind", "inhad"}, {"nodes", 2}, {"quota", 1}, {"weights", "fair"}}, "per-worker"}}) {
    try {
      late_protocol(section);
      ADD_FAILURE() << "accepted: " << section.dump();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos)
          << section.dump() << ": " << error.what();
    }
  }
}

TEST(LateProtocols, LawsSayHowLateGradientsMayBe) {
  EXPECT_EQ(late_protocol({{"kind", "asp"}})->law(1).staleness, 0U);
  EXPECT_EQ(late_protocol({{"kind", "asp"}})->law(4).staleness, std::nullopt);
  const auto ssp = late_protocol({{"kind", "ssp"}, {"staleness", 2}});
  EXPECT_EQ(ssp->law(4).staleness, 15U);  // (2 s + 1)(P - 1)
  EXPECT_EQ(ssp->law(4).contributions, 1U);
  const Json keys{{"kind", "inhad"}, {"nodes", 2}, {"quota", 4}, {"staleness", 3}, {"cap", 2}};
  EXPECT_EQ(late_protocol(keys)->law(4).staleness, 3U);
  EXPECT_EQ(late_protocol(keys)->law(4).contributions, std::nullopt);
  EXPECT_TRUE(late_protocol(keys)->law(4).contributions_weigh_alike);
  Json weighted = keys;
  weighted["weights"] = "per-worker";
  EXPECT_FALSE(late_protocol(weighted)->law(4).contributions_weigh_alike);
  Json exact = keys;
  exact["staleness"] = 0;
  EXPECT_EQ(late_protocol(exact)->law(4).contributions, 8U);
}

}  // namespace
}  // namespace residuum
