// A large vector is a vector like any other.

#include <gtest/gtest.h>

#include <algorithm>

#include "core/vectors/dense.h"

namespace residuum {
namespace {

TEST(LargeVector, HoldsZerosOfTheSizeAskedFor) {
  for (const std::size_t size : {0U, 1U, 1'000U, 1'048'577U, 3'000'001U}) {
    const auto vector = large_vector<float>(size);
    EXPECT_EQ(vector.size(), size);
    EXPECT_EQ(std::count(vector.begin(), vector.end(), 0.0F), static_cast<std::ptrdiff_t>(size));
  }
}

}  // namespace
}  // namespace residuum
