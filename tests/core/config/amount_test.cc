#include "core/config/amount.h"

#include <gtest/gtest.h>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;
using test::Json;

Amount amount(const Json& values) { return Amount::from(Section("sparsifier", values)); }

TEST(Amount, IsKItself) {
  EXPECT_EQ(amount({{"k", 1}}).resolve(1), 1U);
  EXPECT_EQ(amount({{"k", 10}}).resolve(1000), 10U);
}

TEST(Amount, RoundsADensityDownButKeepsTheDecimalThatWasTyped) {
  EXPECT_EQ(amount({{"density", 0.29}}).resolve(100), 29U);  // 0.29 * 100 is 28.999999999999996
  EXPECT_EQ(amount({{"density", 0.57}}).resolve(100), 57U);  // 56.99999999999999
  EXPECT_EQ(amount({{"density", 0.001}}).resolve(1999), 1U);
  EXPECT_EQ(amount({{"density", 0.999}}).resolve(10), 9U);
  EXPECT_EQ(amount({{"density", 1}}).resolve(7), 7U);
}

TEST(Amount, KeepsAtLeastOneEntry) {
  EXPECT_EQ(amount({{"density", 0.001}}).resolve(10), 1U);
  EXPECT_EQ(amount({{"density", 1e-300}}).resolve(1), 1U);
}

TEST(Amount, RefusesMoreEntriesThanThereAre) {
  EXPECT_EQ(error_of([] {
              amount({{"k", 11}}).resolve(10);
            }),
            "'sparsifier.k' is 11, but there are only 10 parameters; use at most that many");
}

TEST(Amount, RefusesADensityOutsideZeroToOne) {
  EXPECT_EQ(error_of([] {
              amount({{"density", 0.0}});
            }),
            "'sparsifier.density' must lie in (0, 1], got 0");
  EXPECT_NE(error_of([] { amount({{"density", -0.5}}); }), "");
  EXPECT_NE(error_of([] { amount({{"density", 1.0000001}}); }), "");
}

TEST(Amount, RefusesAKBelowOneOrOfAnotherType) {
  EXPECT_EQ(error_of([] { amount({{"k", 0}}); }), "'sparsifier.k' must be at least 1, got 0");
  EXPECT_NE(error_of([] { amount({{"k", -4}}); }), "");
  EXPECT_NE(error_of([] { amount({{"k", 1.5}}); }), "");
}

TEST(Amount, WantsExactlyOneOfTheTwo) {
  EXPECT_EQ(error_of([] { amount(Json::object()); }),
            "missing key 'sparsifier.density' (or 'sparsifier.k')");
  EXPECT_EQ(error_of([] {
              amount({{"k", 1}, {"density", 0.1}});
            }),
            "'sparsifier.k' and 'sparsifier.density': give one of them");
}

}  // namespace
}  // namespace residuum
