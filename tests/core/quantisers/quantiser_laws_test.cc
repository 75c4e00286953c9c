// Every quantiser of the registry must keep these laws, in both precisions, on vectors of every
// kind.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/quantisers/quantiser_cases.h"
#include "tests/core/vectors/simd_targets.h"

namespace residuum {
namespace {

constexpr std::uint32_t kQuantiserDraws = 1500;
/// The most standard errors by which a mean may be off.
constexpr double kStandardErrors = 6;

template <class Real>
std::vector<std::byte> coded(const Quantiser& rule,
                             const std::vector<Real>& values,
                             std::uint32_t iteration = 0) {
  RandomStream random(7, Purpose::quantiser, 0, iteration);
  std::vector<std::byte> bytes(rule.packed_bytes(values.size(), sizeof(Real)), std::byte{0xAB});
  rule.encode(std::span<const Real>(values), random, bytes);
  return bytes;
}

template <class Real>
std::vector<Real> decoded(const Quantiser& rule,
                          const std::vector<Real>& values,
                          std::uint32_t iteration = 0) {
  std::vector<Real> result(values.size(), std::numeric_limits<Real>::quiet_NaN());
  rule.decode(coded(rule, values, iteration), std::span<Real>(result));
  return result;
}

template <class Real>
double length(const std::vector<Real>& x) {
  return std::sqrt(norm_sq<Real>(x));
}

/// Bounds what rounding does to a decoded vector: a scale and a product, to half a unit each, or to
/// half the smallest number.
template <class Real>
double rounding(double x, double q, std::size_t n) {
  constexpr double kUnit = std::numeric_limits<Real>::epsilon() / 2;
  return 4 * kUnit * (x + q) +
         std::sqrt(static_cast<double>(n)) * std::numeric_limits<Real>::denorm_min();
}

/// Moments of Q(x) - x over draws; one draw where nothing is random.
struct Errors {
  double count = 0;
  double mean_sq = 0;        // of |Q(x) - x|^2, in units of |x|^2, less what rounding may add
  double mean_sq_error = 0;  // the standard error of that mean
  std::vector<double> mean;  // of each entry, in units of |x|
  double rounding = 0;       // in units of |x|
};

template <class Real>
Errors errors_of(const Quantiser& rule, const std::vector<Real>& x) {
  const double norm = length(x);
  Errors errors;
  errors.mean.resize(x.size());
  const std::uint32_t draws = rule.law(x.size()).random ? kQuantiserDraws : 1;
  double sum_of_squares = 0;
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    const auto q = decoded(rule, x, draw);
    double square = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double error = (static_cast<double>(q[i]) - static_cast<double>(x[i])) / norm;
      errors.mean[i] += error / draws;
      square += error * error;
    }
    const double room = rounding<Real>(norm, length(q), x.size()) / norm;
    const double least = std::pow(std::max(0.0, std::sqrt(square) - room), 2);
    errors.rounding = std::max(errors.rounding, room);
    errors.mean_sq += least / draws;
    sum_of_squares += least * least;
  }
  errors.count = draws;
  const double variance = sum_of_squares / draws - errors.mean_sq * errors.mean_sq;
  errors.mean_sq_error = std::sqrt(std::max(0.0, variance) / draws);
  return errors;
}

/// Checks the law on one vector that is not zero.
template <class Real>
void keeps_quantiser_law(const Quantiser& rule, const std::vector<Real>& x) {
  const QuantiserLaw law = rule.law(x.size());
  const Errors errors = errors_of(rule, x);
  // Sums of n squares, and over all draws, round as often.
  const double terms = static_cast<double>(x.size()) + errors.count;
  const double sums = (terms + 8) * std::numeric_limits<double>::epsilon();
  const double least = (errors.mean_sq - kStandardErrors * errors.mean_sq_error) * (1 - sums);
  if (law.contraction) {
    EXPECT_LE(least, 1 - *law.contraction) << "more is lost than the contraction allows";
  }
  if (!law.variance) {
    return;
  }
  EXPECT_LE(least, *law.variance) << "the variance is above omega";
  // E (Q(x)_i - x_i)^2 <= omega |x|^2 bounds the standard error of every entry.
  const double room = kStandardErrors * std::sqrt(*law.variance / errors.count) + errors.rounding;
  double along = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(std::abs(errors.mean[i]), room) << "the mean of entry " << i << " is not its value";
    along += errors.mean[i] * static_cast<double>(x[i]) / length(x);
  }
  EXPECT_LE(std::abs(along), room) << "the mean is longer or shorter than the vector";
}

template <class Real>
void keep_their_laws() {
  for (const auto& [name, rule] : test::quantiser_cases()) {
    for (const std::size_t n : {1, 2, 7, 60, 700}) {
      for (const auto& [kind, x] : test::quantiser_vectors<Real>(n)) {
        SCOPED_TRACE(name + ", " + std::to_string(n) + " values: " + kind);
        if (norm_sq<Real>(x) > 0) {
          keeps_quantiser_law(*rule, x);
        }
      }
    }
  }
}

TEST(QuantiserLaws, HoldInFloat32) { keep_their_laws<float>(); }
TEST(QuantiserLaws, HoldInFloat64) { keep_their_laws<double>(); }

TEST(QuantiserLaws, AreClaimedByAll) {
  for (const auto& [name, rule] : test::quantiser_cases()) {
    SCOPED_TRACE(name);
    for (const std::size_t n : {1, 2, 10, 1000, 1000000}) {
      const QuantiserLaw law = rule->law(n);
      EXPECT_TRUE(law.contraction || law.variance) << "nothing is known of " << n << " values";
      EXPECT_TRUE(law.random || !law.variance) << "only a draw can make a rounding unbiased";
      EXPECT_GT(law.bits, 0);
      EXPECT_LE(law.bits, 16);
      if (law.contraction) {
        EXPECT_GT(*law.contraction, 0);
        EXPECT_LE(*law.contraction, 1);
      }
    }
  }
}

TEST(QuantiserLaws, DoNotGrowStrongerWithMoreValues) {
  for (const auto& [name, rule] : test::quantiser_cases()) {
    SCOPED_TRACE(name);
    for (std::size_t n = 1; n < 3000; ++n) {
      const QuantiserLaw fewer = rule->law(n);
      const QuantiserLaw more = rule->law(n + 1);
      ASSERT_LE(more.contraction.value_or(0), fewer.contraction.value_or(0)) << n;
      ASSERT_GE(more.variance.value_or(0), fewer.variance.value_or(0)) << n;
    }
  }
}

TEST(Quantisers, SendZerosAsNothing) {
  for (const auto& [name, rule] : test::quantiser_cases()) {
    EXPECT_EQ(decoded(*rule, std::vector<float>(9)), std::vector<float>(9)) << name;
    EXPECT_EQ(decoded(*rule, std::vector<double>(9)), std::vector<double>(9)) << name;
  }
}

/// The packed form has the declared bits for each value, and scales that n values share.
TEST(Quantisers, TakeTheBytesTheyDeclare) {
  for (const auto& [name, rule] : test::quantiser_cases()) {
    SCOPED_TRACE(name);
    EXPECT_TRUE(coded(*rule, std::vector<float>()).empty());
    for (const std::size_t n : {1, 2, 7, 8, 9, 511, 512, 513, 1000}) {
      const auto bits = static_cast<std::size_t>(rule->law(n).bits);
      const auto floats = coded(*rule, test::normal_vector<float>(n, 1)).size();
      const auto doubles = coded(*rule, test::normal_vector<double>(n, 1)).size();
      EXPECT_EQ(floats, rule->packed_bytes(n, sizeof(float)));
      EXPECT_EQ(doubles, rule->packed_bytes(n, sizeof(double)));
      EXPECT_GT(floats, (n * bits + 7) / 8) << "codes, and at least one scale";
      EXPECT_GE(doubles, floats);
    }
  }
}

/// A stream decides the draws: the same gives the same bytes, another gives others.
TEST(Quantisers, DependOnTheStreamAlone) {
  const auto x = test::normal_vector<float>(500, 2);
  for (const auto& [name, rule] : test::quantiser_cases()) {
    SCOPED_TRACE(name);
    EXPECT_EQ(coded(*rule, x, 4), coded(*rule, x, 4));
    EXPECT_EQ(coded(*rule, x, 4) != coded(*rule, x, 5), rule->law(x.size()).random);
  }
}

/// Returns numbers that depend on no function of the C library.
std::vector<float> products(std::size_t n) {
  RandomStream random(1, Purpose::test, 0, 0);
  const auto factor = [&] {
    return static_cast<float>(static_cast<std::int32_t>(random.bits())) * 0x1p-31F;
  };
  std::vector<float> x(n);
  for (float& value : x) {
    const float first = factor();
    const float second = factor();
    value = first * second * factor();
  }
  return x;
}

/// FNV-1a, of what is packed and what is read from that.
std::uint64_t hash_of(const Quantiser& rule, const std::vector<float>& x) {
  constexpr std::uint32_t kIteration = 3;
  std::uint64_t hash = 0xCBF29CE484222325U;
  const auto add = [&](std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) {
      hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001B3U;
    }
  };
  add(coded(rule, x, kIteration));
  const auto values = decoded(rule, x, kIteration);
  add(std::as_bytes(std::span(values)));
  return hash;
}

/// These hashes are those of quantisers that made one code after the other.
TEST(Quantisers, KeepTheirBitsOnEveryTarget) {
  const std::map<std::string, std::uint64_t> hashes{
      {"sign", 0xA8F349B5ED1D3CE6U},
      {"qsgd", 0x11056399B1EDA640U},
      {"terngrad", 0x6436610A34C66886U},
      {"natural", 0xB08588D70E9DAF0BU},
      {"linear", 0x21498FC794F1A816U},
      {"table", 0xA9B4A9464B3F2BBEU},
      {R"({"bits":2,"kind":"qsgd"})", 0xCFE4FB5BE23E8D3CU},
      {R"({"bits":5,"bucket":7,"kind":"qsgd"})", 0xF016486DEC301778U},
      {R"({"bits":16,"kind":"qsgd"})", 0x3C094D21F563DDE1U},
      {R"({"bits":2,"kind":"qsgd","shrink":true})", 0xB0212A4C012010E8U},
      {R"({"bits":2,"kind":"qsgd","levels":"natural"})", 0x8D5199C82AA51EBCU},
      {R"({"bits":4,"kind":"qsgd","levels":"natural"})", 0xFAAE561CF6CF7450U},
      {R"({"bits":8,"kind":"qsgd","levels":"natural"})", 0xE17430E32A731B90U},
      {R"({"kind":"terngrad","shrink":true})", 0xE80BDDCF24D3F252U},
      {R"({"bits":1,"kind":"linear"})", 0x4D2B2F8A24E5B92EU},
      {R"({"bits":1,"kind":"linear","shrink":true})", 0x31ADEDA9922BFFFEU},
      {R"({"bits":8,"kind":"linear"})", 0x9F298901D9F52864U},
      {R"({"bits":11,"kind":"linear"})", 0xCCDF8CE8D300C1FAU},
      {R"({"bits":16,"kind":"linear"})", 0xF23BCB4DD255383EU}};
  const auto x = products(5001);
  test::for_each_target([&] {
    for (const auto& [name, rule] : test::quantiser_cases()) {
      EXPECT_EQ(hash_of(*rule, x), hashes.at(name)) << name;
    }
  });
}

/// Bytes that come from elsewhere are refused, or decoded as finite numbers.
template <class Real>
void survives_damage(const Quantiser& rule, const std::vector<Real>& x) {
  const auto sound = coded(rule, x);
  std::vector<Real> values(x.size());
  const auto decode = [&](const std::vector<std::byte>& bytes) {
    rule.decode(bytes, std::span<Real>(values));
  };
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sound.size() - 1}) {
    EXPECT_THROW(decode({sound.begin(), sound.begin() + static_cast<std::ptrdiff_t>(size)}), Error);
  }
  auto longer = sound;
  longer.push_back(std::byte{0});
  EXPECT_THROW(decode(longer), Error);
  RandomStream random(1, Purpose::test, 0, 0);
  for (int damage = 0; damage < 300; ++damage) {
    auto damaged = sound;
    for (std::uint32_t changes = 1 + random.below(8); changes > 0; --changes) {
      const auto at = random.below(static_cast<std::uint32_t>(damaged.size()));
      damaged[at] = static_cast<std::byte>(random.below(256));
    }
    try {
      decode(damaged);
      EXPECT_TRUE(std::all_of(
          values.begin(), values.end(), [](Real value) { return std::isfinite(value); }));
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("damaged"), std::string::npos);
    }
  }
}

TEST(Quantisers, RefuseDamagedBytes) {
  for (const auto& [name, rule] : test::quantiser_cases()) {
    SCOPED_TRACE(name);
    survives_damage(*rule, test::normal_vector<float>(21, 5));
    survives_damage(*rule, test::normal_vector<double>(21, 5));
  }
}

/// Quantisers whose levels are values of their own send decoded values again without a loss.
TEST(Quantisers, SendTheirOwnLevelsUnchanged) {
  const auto x = test::normal_vector<float>(300, 6);
  for (const auto& values : {test::Json{{"kind", "natural"}}, test::Json{{"kind", "terngrad"}}}) {
    const auto rule = test::quantiser(values);
    const auto q = decoded(*rule, x);
    EXPECT_EQ(coded(*rule, q, 9), coded(*rule, x)) << values;
  }
}

}  // namespace
}  // namespace residuum
