#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "core/random/random.h"

namespace residuum {
namespace {

// Holm 1979: at 0.05, 0.01 <= 0.05/4, 0.015 <= 0.05/3, 0.03 > 0.05/2 ends it, though 0.045 <= 0.05.
TEST(Holm, RejectsInRisingOrderUntilTheFirstThatIsNotSmallEnough) {
  EXPECT_EQ(holm_rejects(std::vector<double>{0.045, 0.01, 0.03, 0.015}, 0.05),
            (std::vector<bool>{false, true, false, true}));
  EXPECT_EQ(holm_rejects(std::vector<double>{0.04}, 0.05), std::vector<bool>{true});
  EXPECT_EQ(holm_rejects(std::vector<double>{0.04, 0.9}, 0.05), (std::vector<bool>{false, false}));
  EXPECT_TRUE(holm_rejects(std::vector<double>{}, 0.05).empty());
}

TEST(Holm, NeverRejectsWhatIsNoNumberAndCountsIt) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(holm_rejects(std::vector<double>{none, 0.04}, 0.05), (std::vector<bool>{false, false}));
  EXPECT_EQ(holm_rejects(std::vector<double>{none, 0.02}, 0.05), (std::vector<bool>{false, true}));
}

// Twenty true hypotheses: p-values uniform on [0, 1]. Without correction 64 % of the families have
// a false alarm; with it at most 5 %, here 4.9 % (1 - (1 - 0.05/20)^20), +- 3.3 sd of 4000 draws.
TEST(Holm, KeepsTheFalseAlarmsOfAFamilyBelowTheLevel) {
  RandomStream random(1, Purpose::test, 0, 0);
  constexpr int kFamilies = 4000;
  int alarms = 0;
  for (int i = 0; i < kFamilies; ++i) {
    std::vector<double> p_values(20);
    for (double& p : p_values) {
      p = random.uniform();
    }
    const auto rejected = holm_rejects(p_values, 0.05);
    alarms += std::find(rejected.begin(), rejected.end(), true) != rejected.end() ? 1 : 0;
  }
  EXPECT_NEAR(alarms / double{kFamilies}, 1 - std::pow(1 - 0.05 / 20, 20), 0.0113);
}

}  // namespace
}  // namespace residuum
