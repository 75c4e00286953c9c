// Example: the tests that the author of a sparsifier writes with the package's matchers.

#include <gtest/gtest.h>

#include "assumptions/testing/matchers.h"

namespace {

using residuum::Section;
using residuum::matchers::ConservesMass;
using residuum::matchers::IsContractive;
using residuum::matchers::KeepsItsLaw;

std::unique_ptr<residuum::Sparsifier> window_k(int k) {
  return residuum::make_sparsifier(
      Section("sparsifier", nlohmann::json{{"kind", "window-k"}, {"k", k}}));
}

TEST(WindowK, ContractsAsARandomSelectionDoes) {
  EXPECT_THAT(*window_k(15), IsContractive(0.25));
  EXPECT_THAT(*window_k(15), testing::Not(IsContractive(0.5)));
}

TEST(WindowK, KeepsItsLaw) {
  for (const int k : {1, 3, 7, 60}) {
    EXPECT_THAT(*window_k(k), KeepsItsLaw()) << k;
  }
}

TEST(WindowK, LosesNothingThroughAnyExchange) {
  for (const char* aggregator : {"allgather", "gtopk-exact", "gtopk-tree", "gtopk-mask"}) {
    EXPECT_THAT(residuum::laws::method_of({.sparsifier = {{"kind", "window-k"}, {"k", 3}},
                                           .aggregator = {{"kind", aggregator}}}),
                ConservesMass())
        << aggregator;
  }
}

}  // namespace
