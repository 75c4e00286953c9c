// The row kernels have the bits of plain loops on every target.

#include "core/vectors/row_kernels.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "core/random/random.h"
#include "tests/core/vectors/simd_targets.h"

namespace residuum {
namespace {

template <class Real>
std::vector<Real> normal_numbers(std::size_t size, std::uint32_t stream) {
  RandomStream random(1, Purpose::test, 0, stream);
  std::vector<Real> numbers(size);
  for (Real& number : numbers) {
    number = static_cast<Real>(random.normal());
  }
  return numbers;
}

/// The sum of products as the header defines it.
template <class Real>
Real plain_dot(const std::vector<Real>& x, const std::vector<Real>& w) {
  constexpr std::size_t kSums = 16;
  std::array<Real, kSums> sums{};
  const std::size_t whole = x.size() - x.size() % kSums;
  for (std::size_t j = 0; j < whole; ++j) {
    sums[j % kSums] += x[j] * w[j];
  }
  Real sum = 0;
  for (std::size_t j = whole; j < x.size(); ++j) {
    sum += x[j] * w[j];
  }
  for (const Real partial : sums) {
    sum += partial;
  }
  return sum;
}

template <class Real>
void check_rows() {
  for (const std::size_t size : {0, 1, 3, 15, 16, 17, 31, 32, 123, 500}) {
    SCOPED_TRACE(size);
    const auto x = normal_numbers<Real>(size, 1);
    const auto w = normal_numbers<Real>(size, 2);
    const auto scale = static_cast<Real>(0.3);
    std::vector<Real> expected = w;
    for (std::size_t j = 0; j < size; ++j) {
      const Real product = scale * x[j];
      expected[j] += product;
    }
    test::for_each_target([&] {
      EXPECT_EQ(row_kernels<Real>().dot(x.data(), w.data(), size), plain_dot(x, w));
      std::vector<Real> sum = w;
      row_kernels<Real>().add(scale, x.data(), size, sum.data());
      EXPECT_EQ(sum, expected);
    });
  }
}

template <class Real>
void check_several_rows() {
  constexpr std::size_t kRows = RowKernels<Real>::kTogether;
  for (const std::size_t size : {0, 1, 3, 15, 16, 17, 31, 32, 123, 500}) {
    SCOPED_TRACE(size);
    const auto scales = normal_numbers<Real>(kRows, 3);
    std::array<std::vector<Real>, kRows> rows;
    std::array<const Real*, kRows> begins{};
    std::vector<Real> expected = normal_numbers<Real>(size, 2);
    for (std::size_t r = 0; r < kRows; ++r) {
      rows[r] = normal_numbers<Real>(size, static_cast<std::uint32_t>(4 + r));
      begins[r] = rows[r].data();
      for (std::size_t j = 0; j < size; ++j) {
        const Real product = scales[r] * rows[r][j];
        expected[j] += product;
      }
    }
    test::for_each_target([&] {
      std::vector<Real> sum = normal_numbers<Real>(size, 2);
      row_kernels<Real>().add_rows(scales.data(), begins.data(), size, sum.data());
      EXPECT_EQ(sum, expected);
    });
  }
}

TEST(RowKernels, HaveTheBitsOfPlainLoopsInDouble) { check_rows<double>(); }
TEST(RowKernels, HaveTheBitsOfPlainLoopsInFloat) { check_rows<float>(); }

TEST(RowKernels, AddSeveralRowsWithTheBitsOfOneAfterTheOther) {
  check_several_rows<double>();
  check_several_rows<float>();
}

TEST(RowKernels, AddProductsOfSmallNumbersExactly) {
  std::vector<double> x(20);
  std::vector<double> w(20);
  for (std::size_t j = 0; j < x.size(); ++j) {
    x[j] = static_cast<double>(j);
    w[j] = 2;
  }
  EXPECT_EQ(row_kernels<double>().dot(x.data(), w.data(), x.size()), 2 * 190.0);
}

}  // namespace
}  // namespace residuum
