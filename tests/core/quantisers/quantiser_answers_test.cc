// Packed forms and decoded values that were worked out by hand, the rounding that random quantisers
// share, and sections that are refused.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>
#include <vector>

#include "core/quantisers/packed_codes.h"
#include "core/quantisers/rounding.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::Json;
using Bytes = std::vector<int>;

Bytes bytes_of(const std::vector<float>& numbers) {
  Bytes bytes;
  for (const float number : numbers) {
    for (const auto byte : std::bit_cast<std::array<unsigned char, 4>>(number)) {
      bytes.push_back(byte);
    }
  }
  return bytes;
}

Bytes operator+(Bytes left, const Bytes& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// The packed form and the values decoded from it.
struct Sent {
  Bytes bytes;
  std::vector<float> values;
};

Sent sent_by(const Json& section, const std::vector<float>& x, std::uint32_t iteration = 0) {
  const auto rule = test::quantiser(section);
  RandomStream random(1, Purpose::quantiser, 0, iteration);
  std::vector<std::byte> coded(rule->packed_bytes(x.size(), sizeof(float)), std::byte{0xAB});
  rule->encode(std::span<const float>(x), random, coded);
  Sent result;
  for (const std::byte byte : coded) {
    result.bytes.push_back(std::to_integer<int>(byte));
  }
  result.values.resize(x.size());
  rule->decode(coded, std::span<float>(result.values));
  return result;
}

TEST(SignQuantiser, SendsSignsAndTheMeanMagnitude) {
  const auto [bytes, values] = sent_by({{"kind", "sign"}}, {3, -1, 0, 2, -2});
  EXPECT_EQ(bytes, bytes_of({1.6F}) + Bytes({0b10010}));
  EXPECT_EQ(values, std::vector<float>({1.6F, -1.6F, 1.6F, 1.6F, -1.6F}));
}

TEST(SignQuantiser, OfScaleOneSendsSignsAlone) {
  const Json section{{"kind", "sign"}, {"scale", "one"}};
  const auto [bytes, values] = sent_by(section, {3, -1, 0, 2, -2});
  EXPECT_EQ(bytes, Bytes({0b10010}));
  EXPECT_EQ(values, std::vector<float>({1, -1, 1, 1, -1}));
  const auto rule = test::quantiser(section);
  EXPECT_EQ(rule->packed_bytes(0, sizeof(float)), 0U);
  EXPECT_EQ(rule->packed_bytes(1000, sizeof(double)), 125U);
}

/// x = 0.1: |x - 1|^2 = 81 |x|^2.
TEST(SignQuantiser, OfScaleOneClaimsNoContraction) {
  const auto rule = test::quantiser({{"kind", "sign"}, {"scale", "one"}});
  EXPECT_FALSE(rule->law(1).contraction);
  EXPECT_FALSE(rule->law(1).variance);
  EXPECT_FALSE(rule->law(1).random);
  EXPECT_EQ(rule->law(1).bits, 1);
}

TEST(SignQuantiser, RecordsItsScale) {
  const auto scale_of = [](const Json& values) {
    const Section section("quantiser", values);
    make_quantiser(section);
    section.finish();
    return section.resolved()["scale"];
  };
  EXPECT_EQ(scale_of({{"kind", "sign"}}), "mean");
  EXPECT_EQ(scale_of({{"kind", "sign"}, {"scale", "one"}}), "one");
}

/// |(1, -2, 2)| = 3, and three bits have three levels: every value is one.
TEST(Qsgd, SendsLevelsOfTheNorm) {
  const auto [bytes, values] = sent_by({{"kind", "qsgd"}, {"bits", 3}}, {1, -2, 2});
  EXPECT_EQ(bytes, bytes_of({3}) + Bytes({0x2A, 0x01}));  // 2 + (5 << 3) + (4 << 6)
  EXPECT_EQ(values, std::vector<float>({1, -2, 2}));
}

TEST(Qsgd, HasANormForEachBucket) {
  const auto [bytes, values] =
      sent_by({{"kind", "qsgd"}, {"bits", 2}, {"bucket", 2}}, {0, -4, 7, 0, 5});
  EXPECT_EQ(bytes, bytes_of({4, 7, 5}) + Bytes({0b00101100, 0b10}));
  EXPECT_EQ(values, std::vector<float>({0, -4, 7, 0, 5}));
}

/// omega = min(n/s^2, sqrt(n)/s) with s = 2^(b-1) - 1: 4 values and 3 bits give min(4/9, 2/3), 100
/// values and 2 bits min(100, 10).
TEST(Qsgd, HasTheVarianceOfItsPaper) {
  EXPECT_DOUBLE_EQ(*test::quantiser({{"kind", "qsgd"}, {"bits", 3}})->law(4).variance, 4.0 / 9);
  const auto two_bits = test::quantiser({{"kind", "qsgd"}, {"bits", 2}})->law(100);
  EXPECT_DOUBLE_EQ(*two_bits.variance, 10);
  EXPECT_FALSE(two_bits.contraction);
  const auto shrunk = test::quantiser({{"kind", "qsgd"}, {"bits", 2}, {"shrink", true}})->law(100);
  EXPECT_DOUBLE_EQ(*shrunk.contraction, 1.0 / 11);
  EXPECT_FALSE(shrunk.variance);
}

/// omega = 2 for (1, 0, 0, 0) and two bits, so that a third is sent.
/// With 3 bits s = 3: 1/4, 1/2 and 1 are the levels 1, 2 and 3. The norm is 4.
TEST(NaturalDithering, SendsPowersOfTwoOfTheNorm) {
  const Json section{{"kind", "qsgd"}, {"bits", 3}, {"levels", "natural"}};
  const std::vector<float> x{2, -2, 2, 1, 1, -1, 1};
  const auto [bytes, values] = sent_by(section, x);
  constexpr int kCodes = 4 | 5 << 3 | 4 << 6 | 2 << 9 | 2 << 12 | 3 << 15 | 2 << 18;
  EXPECT_EQ(bytes, bytes_of({4}) + Bytes({kCodes & 255, kCodes >> 8 & 255, kCodes >> 16}));
  EXPECT_EQ(values, x);
  EXPECT_EQ(sent_by(section, {0, -7, 0}).values, std::vector<float>({0, -7, 0}));
}

/// E (Q(x) - x)^2 by the levels l <= y <= u around each y = |x_i|/|x|: |x|^2 sum (y - l)(u - y).
double natural_error(const std::vector<double>& x, int levels) {
  double sum_sq = 0;
  for (const double value : x) {
    sum_sq += value * value;
  }
  double error = 0;
  for (const double value : x) {
    const double y = std::abs(value) / std::sqrt(sum_sq);
    double lower = 0;
    double upper = std::pow(2, 1 - levels);
    while (upper < y) {
      lower = upper;
      upper *= 2;
    }
    error += (y - lower) * (upper - y);
  }
  return error * sum_sq;
}

TEST(NaturalDithering, HasTheErrorOfItsLevelsAndNoMoreThanItsTheoremSays) {
  constexpr std::uint32_t kDraws = 4000;
  for (const int bits : {2, 3, 4}) {
    const int levels = (1 << (bits - 1)) - 1;
    const auto rule = test::quantiser({{"kind", "qsgd"}, {"bits", bits}, {"levels", "natural"}});
    for (const std::size_t n : {1, 2, 9, 60}) {
      const auto x = test::normal_vector(n, 8);
      double norm_sq = 0;
      double sum = 0;
      double sum_sq = 0;
      std::vector<double> mean(n);
      std::vector<double> q(n);
      std::vector<std::byte> coded(rule->packed_bytes(n, sizeof(double)));
      for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
        RandomStream random(1, Purpose::quantiser, 0, draw);
        rule->encode(std::span<const double>(x), random, coded);
        rule->decode(coded, std::span<double>(q));
        double error = 0;
        for (std::size_t i = 0; i < n; ++i) {
          error += (q[i] - x[i]) * (q[i] - x[i]);
          mean[i] += q[i] / kDraws;
        }
        sum += error / kDraws;
        sum_sq += error * error / kDraws;
      }
      for (const double value : x) {
        norm_sq += value * value;
      }
      const double exact = natural_error(x, levels);
      EXPECT_NEAR(sum, exact, 6 * std::sqrt((sum_sq - sum * sum) / kDraws) + 1e-12)
          << bits << " bits, n = " << n;
      EXPECT_LE(exact, *rule->law(n).variance * norm_sq);
      for (std::size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(mean[i], x[i], 6 * std::sqrt(exact / kDraws) + 1e-12);
      }
    }
  }
}

// 4 bits: s = 7, and sqrt(512)/64 < 1; 2 bits: s = 1, and sqrt(9) > 1.
TEST(NaturalDithering, HasTheVarianceOfItsPaper) {
  const auto variance = [](int bits, std::size_t n) {
    return *test::quantiser({{"kind", "qsgd"}, {"bits", bits}, {"levels", "natural"}})
                ->law(n)
                .variance;
  };
  EXPECT_DOUBLE_EQ(variance(4, 100000), 0.125 + 512.0 / (64 * 64));
  EXPECT_DOUBLE_EQ(variance(2, 9), 0.125 + 3);
  EXPECT_DOUBLE_EQ(variance(8, 9), 0.125);
  EXPECT_EQ(
      test::error_of([] {
        test::quantiser({{"kind", "qsgd"}, {"bits", 9}, {"levels", "natural"}});
      }),
      "'quantiser.bits' must be at most 8 with levels = \"natural\", whose least level is then "
      "2^-126; got 9");
}

TEST(Qsgd, ShrinksWhatItSends) {
  const Json section{{"kind", "qsgd"}, {"bits", 2}, {"shrink", true}};
  EXPECT_EQ(sent_by(section, {6, 0, 0, 0}).values, std::vector<float>({2, 0, 0, 0}));
}

TEST(TernGrad, SendsTheLargestMagnitudeOrNothing) {
  const auto [bytes, values] = sent_by({{"kind", "terngrad"}}, {2, -2, 0, 2});
  EXPECT_EQ(bytes, bytes_of({2}) + Bytes({0b01001001}));
  EXPECT_EQ(values, std::vector<float>({2, -2, 0, 2}));
}

/// The variance of nine values is at most (sqrt(9) - 1)/2 = 1.
TEST(TernGrad, HasTheVarianceOfItsWorstVector) {
  EXPECT_DOUBLE_EQ(*test::quantiser({{"kind", "terngrad"}})->law(9).variance, 1);
}

TEST(NaturalCompression, SendsPowersOfTwoUnchanged) {
  const auto [bytes, values] = sent_by({{"kind", "natural"}}, {1, -2, 0, 0.5});
  EXPECT_EQ(bytes, Bytes({0, 0, 0, 0, 127, 128, 0, 126, 0b0010}));
  EXPECT_EQ(values, std::vector<float>({1, -2, 0, 0.5}));
}

/// 3 lies half way between 2 and 4.
TEST(NaturalCompression, SendsOneOfTheTwoPowersAround) {
  std::set<float> seen;
  for (std::uint32_t iteration = 0; iteration < 40; ++iteration) {
    seen.insert(sent_by({{"kind", "natural"}}, {3}, iteration).values[0]);
  }
  EXPECT_EQ(seen, std::set<float>({2, 4}));
}

/// The power of two above is no float.
TEST(NaturalCompression, SendsTheLargestNumberAsItself) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (std::uint32_t iteration = 0; iteration < 40; ++iteration) {
    const float value = sent_by({{"kind", "natural"}}, {-kLargest}, iteration).values[0];
    EXPECT_TRUE(value == -kLargest || value == -0x1p127F) << value;
  }
}

/// Levels of two bits between -1 and 2 are -1, 0, 1, 2.
TEST(LinearQuantiser, SendsLevelsBetweenTheEnds) {
  const auto [bytes, values] = sent_by({{"kind", "linear"}, {"bits", 2}}, {-1, 2, 0, 1});
  EXPECT_EQ(bytes, bytes_of({-1, 2}) + Bytes({0b10011100}));
  EXPECT_EQ(values, std::vector<float>({-1, 2, 0, 1}));
}

/// omega = n / (2 (k - 1)^2): 18 values and k = 4 give 1.
TEST(LinearQuantiser, HasTheVarianceOfItsPaper) {
  const auto rule = test::quantiser({{"kind", "linear"}, {"bits", 2}});
  EXPECT_DOUBLE_EQ(*rule->law(18).variance, 1);
  EXPECT_DOUBLE_EQ(*rule->law(1).variance, 0);
}

/// The mean is 1 and the standard deviation 3; bins are 4.5 wide. The spike is alone in the last.
TEST(TableQuantiser, SendsASpikeExactly) {
  const auto [bytes, values] = sent_by({{"kind", "table"}}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 10});
  EXPECT_EQ(bytes, bytes_of({0, 0, 0, 10}) + Bytes({0xAA, 0xAA, 0x0E}));
  EXPECT_EQ(values, std::vector<float>({0, 0, 0, 0, 0, 0, 0, 0, 0, 10}));
}

/// The mean is 0 and the standard deviation sqrt(5); bins end at 0.75 of it, 1.68.
TEST(TableQuantiser, SendsTheMeanOfABin) {
  const auto [bytes, values] = sent_by({{"kind", "table"}}, {-3, -1, 2.5, 3, -1.5});
  EXPECT_EQ(values, std::vector<float>({-3, -1.25, 2.75, 2.75, -1.25}));
  EXPECT_EQ(bytes, bytes_of({0, -3, -1.25, 2.75}) + Bytes({0b11111001, 0b10}));
}

TEST(Quantisers, TakeTheBytesOfTheirTables) {
  const auto bytes_of_thousand = [](const Json& section) {
    return test::quantiser(section)->packed_bytes(1000, sizeof(float));
  };
  EXPECT_EQ(bytes_of_thousand({{"kind", "sign"}}), 4 + 125);
  EXPECT_EQ(bytes_of_thousand({{"kind", "qsgd"}, {"bits", 4}}), 8 + 500);
  EXPECT_EQ(bytes_of_thousand({{"kind", "terngrad"}}), 4 + 250);
  EXPECT_EQ(bytes_of_thousand({{"kind", "natural"}}), 4 + 1125);
  EXPECT_EQ(bytes_of_thousand({{"kind", "linear"}, {"bits", 3}}), 8 + 375);
  EXPECT_EQ(bytes_of_thousand({{"kind", "table"}}), 16 + 250);
}

/// The share of the draws that round up is the fraction.
TEST(RoundingAtRandom, GoesUpForTheShareOfDrawsThatIsTheFraction) {
  for (const float fraction : {0.25F, 0.5F, 0x1p-24F}) {
    const auto first_down = static_cast<std::uint32_t>(fraction * 0x1p24F) << 8;
    EXPECT_EQ(rounded_at_random(5 * fraction - 4 * fraction, first_down - 1, 7), 1);
    EXPECT_EQ(rounded_at_random(fraction, first_down, 7), 0);
  }
  EXPECT_EQ(rounded_at_random(3.25, 0x40000000U - 1, 7), 4);
  EXPECT_EQ(rounded_at_random(3.25, 0x40000000U, 7), 3);
  EXPECT_EQ(rounded_at_random(3.0, 0, 7), 3);
  EXPECT_EQ(rounded_at_random(7.0000001, 0, 7), 7) << "no level is above the last";
}

TEST(Codes, ComeBackAsTheyWereWritten) {
  for (int bits = 1; bits <= 16; ++bits) {
    RandomStream random(1, Purpose::test, 0, static_cast<std::uint32_t>(bits));
    std::vector<std::uint32_t> codes(37);
    for (auto& code : codes) {
      code = random.below(1U << bits);
    }
    std::vector<std::byte> bytes(bytes_of_codes(codes.size(), bits));
    CodeWriter writer(bytes, bits);
    for (const auto code : codes) {
      writer.put(code);
    }
    writer.finish();
    CodeReader reader(bytes, bits);
    for (const auto code : codes) {
      ASSERT_EQ(reader.get(), code) << bits;
    }
    EXPECT_TRUE(reader.is_at_end());
  }
}

/// Damage that can be told: signs of zeros, codes and scales that are none, bits behind the last.
TEST(Quantisers, SayWhatCannotBeTheirs) {
  const auto decode = [](const Json& section, const Bytes& bytes, std::size_t n) {
    std::vector<std::byte> coded;
    for (const int byte : bytes) {
      coded.push_back(static_cast<std::byte>(byte));
    }
    std::vector<float> values(n);
    test::quantiser(section)->decode(coded, std::span<float>(values));
  };
  const Json ternary{{"kind", "terngrad"}};
  EXPECT_NO_THROW(decode(ternary, bytes_of({1}) + Bytes({0b10}), 1));
  EXPECT_THROW(decode(ternary, bytes_of({1}) + Bytes({0b11}), 1), Error);
  EXPECT_THROW(decode(ternary, bytes_of({1}) + Bytes({0b110}), 1), Error);
  EXPECT_THROW(decode(ternary, bytes_of({-1}) + Bytes({0b10}), 1), Error);
  EXPECT_THROW(decode(ternary, bytes_of({NAN}) + Bytes({0b10}), 1), Error);
  EXPECT_THROW(decode({{"kind", "sign"}}, bytes_of({INFINITY}) + Bytes({0}), 1), Error);
  EXPECT_THROW(decode({{"kind", "sign"}}, bytes_of({1}) + Bytes({0b10}), 1), Error);
  const Json plain{{"kind", "sign"}, {"scale", "one"}};
  EXPECT_NO_THROW(decode(plain, {0b1}, 1));
  EXPECT_THROW(decode(plain, {0b10}, 1), Error);
  EXPECT_THROW(decode(plain, {}, 1), Error);
  EXPECT_THROW(decode(plain, {0, 0}, 1), Error);
  EXPECT_THROW(decode({{"kind", "qsgd"}, {"bits", 4}}, bytes_of({1}) + Bytes({1}), 1), Error);
  EXPECT_THROW(decode({{"kind", "natural"}}, {0, 0, 0, 0, 0, 1}, 1), Error);
  EXPECT_THROW(decode({{"kind", "natural"}}, {0, 0, 0, 99, 127, 0}, 1), Error);
  EXPECT_THROW(decode({{"kind", "linear"}, {"bits", 1}}, bytes_of({2, 1}) + Bytes({0}), 1), Error);
  EXPECT_THROW(decode({{"kind", "table"}}, bytes_of({0, 1, NAN, 2}) + Bytes({0}), 1), Error);
}

TEST(QuantiserSections, WithOtherBitsAreRefused) {
  const auto error = [](const Json& values) {
    return test::error_of([&] { test::quantiser(values); });
  };
  EXPECT_EQ(error({{"kind", "linear"}, {"bits", 0}}),
            "'quantiser.bits' must lie in 1..16, got 0: it is the bits of one value");
  EXPECT_EQ(error({{"kind", "linear"}, {"bits", 17}}),
            "'quantiser.bits' must lie in 1..16, got 17: it is the bits of one value");
  EXPECT_EQ(error({{"kind", "qsgd"}, {"bits", 1}}),
            "'quantiser.bits' must lie in 2..16, got 1: it is the bits of one value, of which one "
            "is the sign");
  EXPECT_EQ(error({{"kind", "qsgd"}, {"bucket", 0}}),
            "'quantiser.bucket' must be at least 1, got 0: it is how many values share a norm");
  EXPECT_NE(error({{"kind", "sign"}, {"scale", "oen"}}).find("did you mean 'one'?"),
            std::string::npos);
  EXPECT_NE(error({{"kind", "sing"}}).find("did you mean 'sign'?"), std::string::npos);
  EXPECT_EQ(test::quantiser({{"kind", "none"}}), nullptr);
}

}  // namespace
}  // namespace residuum
