#include <gtest/gtest.h>

#include <vector>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using test::Json;

std::vector<std::uint32_t> selected(const Json& values,
                                    const std::vector<double>& x,
                                    double step_size) {
  const auto rule = test::sparsifier(values);
  Message<double> message;
  SelectWorkspace workspace;
  const SelectionContext context{.seed = 1, .worker = 0, .iteration = 0, .step_size = step_size};
  rule->select(std::span<const double>(x), context, workspace, message);
  return message.entries.indices;
}

using Indices = std::vector<std::uint32_t>;

TEST(HardThreshold, KeepsWhatReachesIt) {
  EXPECT_EQ(selected({{"kind", "hard-threshold"}, {"threshold", 2}}, {2, -2, 1.99, -3}, 0.1),
            (Indices{0, 1, 3}));
}

TEST(HardThreshold, IsTimesTheStepSizeByTheEtaScaledRule) {
  const Json values{{"kind", "hard-threshold"}, {"threshold", 2}, {"rule", "eta-scaled"}};

  EXPECT_EQ(selected(values, {0.9, 1, -1.1}, 0.5), (Indices{1, 2}));
  EXPECT_EQ(test::sparsifier(values)->law(3, 0.5).threshold, 1.0);
}

TEST(HardThreshold, IsOneOverTwiceTheRootOfTheIntendedK) {
  const Json values{{"kind", "hard-threshold"}, {"k", 4}};  // 1/4, eta-scaled

  EXPECT_EQ(test::sparsifier(values)->law(100, 1).threshold, 0.25);
  EXPECT_EQ(test::sparsifier(values)->law(100, 0.5).threshold, 0.125);
  EXPECT_EQ(
      test::sparsifier({{"kind", "hard-threshold"}, {"density", 0.04}})->law(100, 1).threshold,
      0.25);
  EXPECT_EQ(test::sparsifier({{"kind", "hard-threshold"}, {"k", 4}, {"rule", "fixed"}})
                ->law(100, 0.5)
                .threshold,
            0.25);
}

TEST(HardThreshold, LeavesItToTheDataHowMuchIsSent) {
  EXPECT_EQ(test::sparsifier({{"kind", "hard-threshold"}, {"threshold", 1}})->k(10), std::nullopt);
  EXPECT_EQ(test::sparsifier({{"kind", "hard-threshold"}, {"k", 2}})->k(10), std::nullopt);
}

TEST(HardThreshold, WaitsForAPilotWhereTheThresholdIsToBeFound) {
  const Json values{{"kind", "hard-threshold"}, {"threshold", "matched"}, {"density", 0.1}};
  const auto rule = test::sparsifier(values);
  ASSERT_TRUE(rule->pilot(50).has_value());
  EXPECT_EQ(rule->pilot(50)->k, 5U);
  EXPECT_EQ(rule->pilot(50)->rule, Pilot::Rule::matched_budget);
  EXPECT_EQ(rule->law(50, 1).threshold, std::nullopt);

  const auto found = rule->with_threshold(0.25);
  EXPECT_EQ(found->pilot(50), std::nullopt);
  EXPECT_EQ(found->law(50, 0.1).threshold, 0.25);

  const auto pilot =
      test::sparsifier({{"kind", "hard-threshold"}, {"threshold", "pilot"}, {"k", 3}});
  EXPECT_EQ(pilot->pilot(50)->rule, Pilot::Rule::order_statistic);
  EXPECT_EQ(test::sparsifier({{"kind", "hard-threshold"}, {"threshold", 1}})->pilot(50),
            std::nullopt);
}

TEST(HardThreshold, RefusesAPilotWithoutABudgetAndUnknownWords) {
  EXPECT_EQ(error_of([] {
              test::sparsifier({{"kind", "hard-threshold"}, {"threshold", "matched"}});
            }),
            "missing key 'sparsifier.density' (or 'sparsifier.k')");
  EXPECT_EQ(error_of([] {
              test::sparsifier({{"kind", "hard-threshold"}, {"threshold", "matchd"}, {"k", 1}});
            }),
            "unknown value 'matchd' of 'sparsifier.threshold'; did you mean 'matched'?");
  EXPECT_NE(
      error_of([] {
        test::sparsifier(
            {{"kind", "hard-threshold"}, {"threshold", "pilot"}, {"k", 1}, {"rule", "eta-scaled"}});
      }),
      "");
}

TEST(HardThreshold, RefusesANegativeThreshold) {
  EXPECT_EQ(error_of([] {
              test::sparsifier({{"kind", "hard-threshold"}, {"threshold", -0.5}});
            }),
            "'sparsifier.threshold' must not be negative, got -0.5");
}

TEST(HardThreshold, WantsAThresholdOrAnIntendedK) {
  EXPECT_NE(error_of([] { test::sparsifier({{"kind", "hard-threshold"}}); }), "");
  EXPECT_NE(error_of([] {
              test::sparsifier({{"kind", "hard-threshold"}, {"threshold", 1}, {"k", 1}});
            }),
            "");
}

}  // namespace
}  // namespace residuum
