// The kernels of every instruction set make the codes of their definition, and packed codes have
// the layout of bit_codes.h.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "core/quantisers/packed_codes.h"
#include "core/quantisers/rounding.h"
#include "tests/core/support.h"
#include "tests/core/vectors/simd_targets.h"

namespace residuum {
namespace {

std::vector<std::uint8_t> random_codes(std::size_t n, std::uint32_t below) {
  RandomStream random(1, Purpose::test, 0, below);
  std::vector<std::uint8_t> codes(n);
  for (auto& code : codes) {
    code = static_cast<std::uint8_t>(random.below(below));
  }
  return codes;
}

TEST(PackedCodes, HaveTheLayoutOfCodesOneByOne) {
  test::for_each_target([] {
    for (int bits = 1; bits <= 8; ++bits) {
      for (const std::size_t n : {1, 7, 8, 9, 64, 333}) {
        const auto codes = random_codes(n, 1U << bits);
        std::vector<std::byte> one_by_one(bytes_of_codes(n, bits));
        CodeWriter writer(one_by_one, bits);
        for (const auto code : codes) {
          writer.put(code);
        }
        writer.finish();
        std::vector<std::byte> packed(one_by_one.size(), std::byte{0xAB});
        pack_codes(codes, bits, packed);
        ASSERT_EQ(packed, one_by_one) << bits << " bits, " << n;
        std::vector<std::uint8_t> unpacked(n);
        unpack_codes(packed, bits, unpacked);
        ASSERT_EQ(unpacked, codes) << bits << " bits, " << n;
      }
    }
  });
}

/// Magnitudes of all kinds: whole levels, fractions that are a byte, zeros, subnormal numbers.
std::vector<float> values_of_all_kinds() {
  auto x = test::normal_vector<float>(301, 1);
  for (std::size_t i = 0; i < x.size(); i += 7) {
    x[i] = static_cast<float>(i % 5) - 2;
  }
  x[3] = -0.0F;
  x[10] = 1e-41F;
  x[17] = -std::numeric_limits<float>::max();
  return x;
}

TEST(CodeKernels, MakeLevelsAsTheyAreDefined) {
  const auto x = test::normal_vector<float>(301, 1);
  const auto bytes = random_codes(x.size(), 256);
  constexpr std::uint32_t kTop = 7;
  const LevelFactors factors{.first = 1, .second = 1.9F};
  test::for_each_target([&] {
    std::vector<std::uint8_t> codes(x.size());
    std::vector<std::uint16_t> ties(x.size());
    ties.resize(level_codes(x, bytes.data(), factors, kTop, codes.data(), ties.data()));
    std::vector<std::uint16_t> expected_ties;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float y = std::abs(x[i]) * factors.first * factors.second;
      const auto level = rounded_by_byte(y, std::byte{bytes[i]}, kTop, [&] {
        expected_ties.push_back(static_cast<std::uint16_t>(i));
        return ~0U;
      });
      ASSERT_EQ(codes[i], level == 0 ? 0 : 2 * level + (x[i] < 0 ? 1 : 0)) << i;
    }
    EXPECT_EQ(ties, expected_ties);
    EXPECT_FALSE(ties.empty()) << "301 bytes decide all";
  });
}

TEST(CodeKernels, MakeNaturalCodesAsTheyAreDefined) {
  const auto x = values_of_all_kinds();
  const auto bytes = random_codes(x.size(), 256);
  test::for_each_target([&] {
    std::vector<std::uint8_t> exponents(x.size());
    std::vector<std::uint8_t> negatives(x.size());
    std::vector<std::uint16_t> ties(x.size());
    ties.resize(natural_codes(x, bytes.data(), exponents.data(), negatives.data(), ties.data()));
    std::size_t tie = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(std::abs(x[i]));
      const std::uint32_t fraction = bits % (1U << 23);
      const std::uint32_t up = bytes[i] < fraction >> 15 ? 1 : 0;
      ASSERT_EQ(exponents[i], (bits >> 23) + up) << i;
      ASSERT_EQ(negatives[i], x[i] < 0 && exponents[i] != 0 ? 1 : 0) << i;
      if (bytes[i] == fraction >> 15) {
        ASSERT_EQ(ties.at(tie++), i);
      }
    }
    EXPECT_EQ(tie, ties.size());
  });
}

TEST(CodeKernels, ReadNaturalCodesAsTheyAreDefined) {
  const auto exponents = random_codes(299, 256);
  auto negatives = random_codes(299, 2);
  for (std::size_t i = 0; i < exponents.size(); ++i) {
    negatives[i] = exponents[i] == 0 ? std::uint8_t{0} : negatives[i];
  }
  test::for_each_target([&] {
    std::vector<float> x(exponents.size());
    EXPECT_TRUE(natural_values(exponents.data(), negatives.data(), x));
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float magnitude = exponents[i] == 0     ? 0
                              : exponents[i] == 255 ? std::numeric_limits<float>::max()
                                                    : std::ldexp(1.0F, exponents[i] - 127);
      ASSERT_EQ(x[i], negatives[i] == 0 ? magnitude : -magnitude) << i;
    }
    for (const std::size_t zero : {std::size_t{0}, std::size_t{100}, x.size() - 1}) {
      auto damaged = exponents;
      auto signs = negatives;
      damaged[zero] = 0;
      signs[zero] = 1;
      EXPECT_FALSE(natural_values(damaged.data(), signs.data(), x)) << zero;
    }
  });
}

TEST(CodeKernels, LookValuesUpAndFindSigns) {
  std::vector<float> table(16);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = static_cast<float>(i) - 7.5F;
  }
  const auto codes = random_codes(203, 16);
  test::for_each_target([&] {
    std::vector<float> x(codes.size());
    look_up(codes.data(), table.data(), x);
    std::vector<std::uint8_t> negatives(x.size());
    negatives_of(x, negatives.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(x[i], table[codes[i]]) << i;
      ASSERT_EQ(negatives[i], codes[i] < 8 ? 1 : 0) << i;
    }
  });
}

TEST(CodeKernels, PackAndReadSignsInBytes) {
  constexpr std::uint8_t kUntouched = 0xAB;
  for (const std::size_t n : {0, 1, 7, 8, 15, 16, 17, 64, 203}) {
    auto x = values_of_all_kinds();
    x.resize(n, -1.0F);
    test::for_each_target([&] {
      std::vector<std::uint8_t> bits(n / 8 + 2, kUntouched);
      const std::size_t packed = pack_negatives(x, bits.data());
      ASSERT_EQ(packed % 8, 0U);
      ASSERT_LE(packed, n);
      ASSERT_EQ(bits[packed / 8], kUntouched) << "nothing is written behind";
      std::vector<float> read(n);
      ASSERT_EQ(signed_by_bits(bits.data(), 2.5F, read), packed);
      for (std::size_t i = 0; i < packed; ++i) {
        ASSERT_EQ(bits[i / 8] >> i % 8 & 1, x[i] < 0 ? 1 : 0) << i;
        ASSERT_EQ(read[i], x[i] < 0 ? -2.5F : 2.5F) << i;
      }
    });
  }
}

void expect_linear_codes(const std::vector<float>& x, std::uint32_t top) {
  const auto [lo, hi] = std::minmax_element(x.begin(), x.end());
  const float first = lift(std::max(std::abs(*lo), std::abs(*hi)));
  const float range = *hi * first - *lo * first;
  const LinearScale<float> scale{.first = first,
                                 .least = *lo * first,
                                 .second = range > 0 ? static_cast<float>(top) / range : 0};
  const auto bytes = random_codes(x.size(), 256);
  test::for_each_target([&] {
    std::vector<std::uint8_t> codes(x.size());
    std::vector<std::uint16_t> ties(x.size());
    ties.resize(linear_codes(x, bytes.data(), scale, top, codes.data(), ties.data()));
    std::vector<std::uint16_t> expected_ties;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const float y = (x[i] * scale.first - scale.least) * scale.second;
      const auto level = rounded_by_byte(y, std::byte{bytes[i]}, top, [&] {
        expected_ties.push_back(static_cast<std::uint16_t>(i));
        return ~0U;
      });
      ASSERT_EQ(codes[i], level) << i << " of " << top;
      ASSERT_NEAR(level, y, 1) << "a level next to it";
    }
    EXPECT_EQ(ties, expected_ties);
  });
}

TEST(CodeKernels, MakeLinearCodesAsTheyAreDefined) {
  for (const std::uint32_t top : {1U, 15U, 255U}) {
    auto x = test::normal_vector<float>(kCodesAtOnce - 3, 1);
    expect_linear_codes(x, top);
    for (std::size_t i = 0; i < x.size(); i += 2) {
      x[i] = static_cast<float>(i % 16);  // whole levels, or nearly
    }
    expect_linear_codes(x, top);
    for (float& value : x) {
      value += 1e7F;  // a range that is small beside the values
    }
    expect_linear_codes(x, top);
    for (float& value : x) {
      value *= 1e-45F;  // subnormal
    }
    expect_linear_codes(x, top);
    expect_linear_codes(std::vector<float>(100, 3.0F), top);
    expect_linear_codes({-3e38F, 3e38F, 0.0F, 1.0F, -1e38F, -0.0F, 2e38F, 1e38F, 5.0F}, top);
  }
}

TEST(CodeKernels, FindTheEndsOfValues) {
  for (const std::size_t n : {1, 2, 31, 64, 301}) {
    const auto x = test::normal_vector<float>(n, 3);
    test::for_each_target([&] {
      const auto [least, largest] = extremes_of(x);
      EXPECT_EQ(least, *std::min_element(x.begin(), x.end())) << n;
      EXPECT_EQ(largest, *std::max_element(x.begin(), x.end())) << n;
    });
  }
}

TEST(CodeKernels, FindTheBinsOfValues) {
  auto x = test::normal_vector<float>(301, 4);
  const BinStarts<float> starts{-0.5F, 0.0F, std::numeric_limits<float>::infinity()};
  x[5] = -0.5F;
  x[6] = -0.0F;
  test::for_each_target([&] {
    std::vector<std::uint8_t> codes(x.size());
    bins_of(x, starts, codes.data());
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(codes[i], x[i] >= 0 ? 2 : x[i] >= -0.5F ? 1 : 0) << i;
    }
  });
}

/// In eight lanes, each in the order of the values, and then pairwise.
template <class Real>
double sum_in_lanes(const std::vector<Real>& terms) {
  kernels::Lanes lanes;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    lanes.sums[i % kernels::kLanes] += static_cast<double>(terms[i]);
  }
  return lanes.total();
}

template <class Real>
void expect_sums_of_bins(std::size_t n) {
  const auto x = test::normal_vector<Real>(n, 5);
  const BinStarts<Real> starts{Real{-0.75}, Real{0.125}, Real{1.25}};
  std::array<std::vector<Real>, 4> of_bins;
  std::vector<double> squares;
  for (const Real value : x) {
    const std::size_t bin = value >= Real{1.25}    ? 3
                            : value >= Real{0.125} ? 2
                                                   : value >= Real{-0.75};
    for (std::size_t b = 0; b < 4; ++b) {
      of_bins[b].push_back(b == bin ? value : Real{0});
    }
    const double difference = 0.5 * static_cast<double>(value) - 0.25;
    squares.push_back(difference * difference);
  }
  test::for_each_target([&] {
    std::vector<std::uint8_t> codes(n);
    bins_of(std::span<const Real>(x), starts, codes.data());
    BinSums sums;
    const std::size_t first = n / 16 * 8;  // two calls, the first of whole groups
    add_to_bins(std::span<const Real>(x).first(first), starts, sums);
    add_to_bins(std::span<const Real>(x).subspan(first), starts, sums);
    for (std::size_t b = 0; b < 4; ++b) {
      EXPECT_EQ(sums.counts[b],
                static_cast<std::size_t>(std::count(codes.begin(), codes.end(), b)));
      EXPECT_EQ(sums.sums[b].total(), sum_in_lanes(of_bins[b])) << b << " of " << n;
    }
    EXPECT_EQ(sum_of_squares_about(0.25, 0.5, std::span<const Real>(x)), sum_in_lanes(squares));
  });
}

TEST(CodeKernels, SumTheValuesOfEachBin) {
  for (const std::size_t n : {1, 7, 8, 100, 2048, 2051}) {
    expect_sums_of_bins<float>(n);
    expect_sums_of_bins<double>(n);
  }
}

/// The largest value is always sent, so its share may not be rounded below 1.
TEST(PackedCodes, GiveTheLargestAShareOfOneAtLeast) {
  RandomStream random(1, Purpose::test, 0, 0);
  for (int i = 0; i < 100000; ++i) {
    const auto largest = std::bit_cast<float>(1 + random.below(0x7F7FFFFF));  // all but zero
    const LevelFactors factors = factors_of_shares(largest);
    const float share = largest * factors.first * factors.second;
    ASSERT_GE(share, 1) << largest;
    ASSERT_LE(share, 1 + 0x1p-22F) << largest;
  }
  EXPECT_EQ(factors_of_shares(0).second, 0);
}

TEST(CodeKernels, FindACode) {
  for (const std::size_t n : {1, 31, 64, 130}) {
    for (std::size_t at = 0; at < n; ++at) {
      std::vector<std::uint8_t> codes(n, 2);
      codes[at] = 3;
      test::for_each_target([&] {
        EXPECT_TRUE(has_code(codes, 3)) << at << " of " << n;
        EXPECT_FALSE(has_code(codes, 1)) << at << " of " << n;
      });
    }
  }
}

/// Sums of whole numbers are exact; those of others have the same bits everywhere.
TEST(CodeKernels, SumTheSameBitsEverywhere) {
  std::vector<float> whole(1003);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    whole[i] = (i % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(i);
  }
  const auto x = test::normal_vector<float>(1003, 2);
  const double magnitudes = sum_of_magnitudes(x);
  const double squares = sum_of_squares(x);
  test::for_each_target([&] {
    EXPECT_EQ(sum_of_magnitudes(whole), 1002 * 1003 / 2);
    EXPECT_EQ(sum_of_squares(whole), 1002.0 * 1003 * 2005 / 6);
    EXPECT_EQ(sum_of_magnitudes(x), magnitudes);
    EXPECT_EQ(sum_of_squares(x), squares);
  });
}

/// The byte decides but for one case in 256, and then 24 further bits do.
TEST(RoundingByByte, GoesUpForTheShareOfDrawsThatIsTheFraction) {
  const auto never = [] {
    ADD_FAILURE() << "the byte decides";
    return 0U;
  };
  EXPECT_EQ(rounded_by_byte(3.25F, std::byte{63}, 7, never), 4);
  EXPECT_EQ(rounded_by_byte(3.25F, std::byte{65}, 7, never), 3);
  EXPECT_EQ(rounded_by_byte(3.25F, std::byte{64}, 7, [] { return 0U; }), 3)
      << "nothing is left of 0.25";
  const float fraction = 64.5F / 256;
  EXPECT_EQ(rounded_by_byte(3 + fraction, std::byte{64}, 7, [] { return 0x80000000U - 256; }), 4);
  EXPECT_EQ(rounded_by_byte(3 + fraction, std::byte{64}, 7, [] { return 0x80000000U; }), 3);
  EXPECT_EQ(rounded_by_byte(7.5F, std::byte{0}, 7, never), 7);
}

TEST(RandomStream, FillsWithTheBitsOfSingleCalls) {
  test::for_each_target([] {
    RandomStream one_by_one(5, Purpose::test, 3, 9);
    RandomStream at_once(5, Purpose::test, 3, 9);
    for (const std::size_t n : {0, 1, 3, 4, 64, 5, 257, 1024, 2}) {
      std::vector<std::uint32_t> words(n);
      at_once.fill(words);
      for (const std::uint32_t word : words) {
        ASSERT_EQ(word, one_by_one.bits()) << n;
      }
    }
  });
}

}  // namespace
}  // namespace residuum
