// Which matrix a layer is.

#include <gtest/gtest.h>

#include <array>

#include "core/training/training.h"
#include "tests/core/tiny_training.h"

namespace residuum {
namespace {

TEST(Matrices, HaveARowForEachEntryOfTheFirstDimension) {
  const auto objective = test::noisy_quadratic(
      174,
      0,
      {{.name = "convolution", .shape = {6, 1, 5, 5}, .offset = 0, .size = 150},
       {.name = "bias", .shape = {6}, .offset = 150, .size = 6},
       {.name = "scalar", .shape = {}, .offset = 156, .size = 1},
       {.name = "nothing", .shape = {0, 4}, .offset = 157, .size = 0},
       {.name = "row", .shape = {1, 17}, .offset = 157, .size = 17}});
  const auto matrices = matrices_of(objective);
  const std::vector<std::array<std::size_t, 3>> expected{
      {0, 6, 25}, {150, 6, 1}, {156, 1, 1}, {157, 0, 0}, {157, 1, 17}};
  ASSERT_EQ(matrices.size(), expected.size());
  for (std::size_t l = 0; l < expected.size(); ++l) {
    EXPECT_EQ((std::array{matrices[l].begin, matrices[l].rows, matrices[l].columns}), expected[l]);
  }
}

TEST(Matrices, OfAModelWithoutNamedPartsAreOneColumn) {
  const auto matrices = matrices_of(test::noisy_quadratic(12, 0));
  ASSERT_EQ(matrices.size(), 1U);
  EXPECT_EQ(matrices[0].rows, 12U);
  EXPECT_EQ(matrices[0].columns, 1U);
}

}  // namespace
}  // namespace residuum
