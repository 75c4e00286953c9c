// A message must be as long as what arrives needs. Three bounds from below hold for any rule, with
// any quantisation, and with random numbers that sender and receiver share, since vectors are drawn
// without a look at the rule: b bytes tell at most 256^b answers apart.
//
// 1. Deterministic answers that differ have messages that differ, of which one alone has 0 bytes.
// 2. Of n entries that are not zero, s arrive with all of their 30 random bits from a message of b
//    bits with a probability below 2^(b + 1 - 30 s) times "n choose s".
// 3. The direction of normal entries is uniform on the sphere. It lies within an angle a of a given
//    line with a probability of at most sin(a)^(d - 1): a cap of the sphere has at most half of
//    that, since the difference is 0 at a = 0 and at a right angle, and rises before it falls. An
//    answer of b bytes within a is as unlikely as p = 256^b (b + 1)(b + 2) sin(a)^(d - 1) at most,
//    for any b, as the sum of 1/((b + 1)(b + 2)) is 1. Over all vectors the p are combined by
//    Fisher's method: the sum of n terms -log p exceeds t with at most the probability of a gamma
//    variable of shape n.

#include <boost/math/special_functions/gamma.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "assumptions/testing/compressor_session.h"
#include "core/random/random.h"

namespace residuum::laws {
namespace {

constexpr double kRisk = 1e-9;
constexpr double kRandomBits = 30;
constexpr double kBitsPerByte = 8;

/// A float32 of 30 random bits: sign, mantissa, and an exponent from -32 to 31.
float of_random_bits(RandomStream& random) {
  constexpr std::uint32_t kOthers = 0x807fffff;
  constexpr std::uint32_t kExponents = 64;
  constexpr std::uint32_t kBias = 127;
  const std::uint32_t exponent = kBias - kExponents / 2 + random.below(kExponents);
  return std::bit_cast<float>((random.bits() & kOthers) | exponent << 23U);
}

std::vector<float> random_bits(std::size_t d, std::uint32_t number) {
  RandomStream random(3, Purpose::test, 0, number);
  std::vector<float> x(d);
  std::generate(x.begin(), x.end(), [&] { return of_random_bits(random); });
  return x;
}

double log2_choose(double n, double s) {
  return (std::lgamma(n + 1) - std::lgamma(s + 1) - std::lgamma(n - s + 1)) / std::numbers::ln2;
}

/// Returns the bytes that the entries take that arrive as they were sent; one entry's bits are left
/// as room.
std::uint64_t bytes_of_exact_entries(std::span<const float> x, std::span<const float> output) {
  double exact = 0;
  double sent = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sent += output[i] != 0 ? 1 : 0;
    exact += output[i] != 0 && output[i] == x[i] ? 1 : 0;
  }
  const double bits = kRandomBits * (exact - 1) - log2_choose(sent, exact);
  return static_cast<std::uint64_t>(std::max(0.0, std::ceil(bits / kBitsPerByte - 1e-9)));
}

/// Returns -log of the probability that a direction lies as near to the output's line as the one of
/// x, which was rounded to float32.
double surprise_of_direction(std::span<const float> x, std::span<const float> output) {
  constexpr double kRounding = 1.01 * 0x1p-24;
  const double along = norm_sq_of(output);
  if (!(along > 0) || !std::isfinite(along)) {
    return 0;
  }
  double product = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    product += static_cast<double>(x[i]) * static_cast<double>(output[i]);
  }
  double left = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double rest =
        static_cast<double>(x[i]) - product / along * static_cast<double>(output[i]);
    left += rest * rest;
  }
  const double sine = std::min(std::sqrt(left / norm_sq_of(x)) + kRounding, 1.0);
  return -static_cast<double>(x.size() - 1) * std::log(sine);
}

/// Returns the sum of -log p over answers of these surprises and lengths.
double surprise_of_answers(std::span<const double> directions, std::span<const double> bytes) {
  double sum = 0;
  for (std::size_t i = 0; i < directions.size(); ++i) {
    const double b = bytes[i];
    const double allowance = b * kBitsPerByte * std::numbers::ln2 + std::log((b + 1) * (b + 2));
    sum += std::max(0.0, directions[i] - allowance);
  }
  return sum;
}

/// Returns how many bytes messages of one length have at least, that carry all these directions.
double bytes_of_directions(std::span<const double> directions, double most) {
  const auto is_enough = [&](double bytes) {
    const std::vector<double> lengths(directions.size(), bytes);
    return surprise_of_answers(directions, lengths) <= most;
  };
  double enough = 1;
  while (!is_enough(enough)) {
    enough *= 2;
  }
  double least = 0;
  while (least < enough) {
    const double middle = std::floor((least + enough) / 2);
    if (is_enough(middle)) {
      enough = middle;
    } else {
      least = middle + 1;
    }
  }
  return least;
}

/// Watches the answers to vectors that were drawn, and how many bytes each is said to have taken.
class BytesWatch {
 public:
  explicit BytesWatch(bool deterministic) : deterministic_(deterministic) {}

  void take_random_bits(std::span<const float> x, const CompressorAnswer& answer) {
    const auto bytes = bytes_of(answer);
    if (!bytes) {
      return;
    }
    const std::uint64_t needed = bytes_of_exact_entries(x, answer.output);
    least_ = std::max(least_, static_cast<double>(needed));
    if (*bytes < needed) {
      note(
          fmt::format("it declares {} bytes, but entries arrive with all of their 30 random bits, "
                      "which take at least {}",
                      *bytes,
                      needed));
    }
  }

  void take_normal(std::span<const float> x, const CompressorAnswer& answer) {
    const auto bytes = bytes_of(answer);
    directions_.push_back(bytes ? surprise_of_direction(x, answer.output) : 0);
    bytes_.push_back(static_cast<double>(bytes.value_or(0)));
    if (!bytes || !deterministic_) {
      return;
    }
    if (first_.empty()) {
      first_ = answer.output;
    }
    if (answer.output != first_) {
      least_ = std::max(least_, 1.0);
    }
    if (*bytes == 0 && silent_.empty()) {
      silent_ = answer.output;
    }
    if (*bytes == 0 && answer.output != silent_) {
      note("it declares 0 bytes for answers that differ, though it is deterministic");
    }
  }

  LawFinding finding() {
    constexpr const char* kLaw = "bytes";
    if (!declares_) {
      return not_looked_at(kLaw, "the compressor declares no bytes");
    }
    judge_directions();
    if (!fault_.empty()) {
      return {kLaw, false, fault_};
    }
    if (least_ == 0) {
      return not_looked_at(kLaw, "the answers tell so little that 0 bytes could carry them");
    }
    return {kLaw,
            true,
            fmt::format("messages are as long as declared, and not below what arrives, which takes "
                        "{} bytes at least",
                        least_)};
  }

 private:
  void note(std::string fault) {
    if (fault_.empty()) {
      fault_ = std::move(fault);
    }
  }

  std::optional<std::uint64_t> bytes_of(const CompressorAnswer& answer) {
    const auto& declared = answer.declared_bytes;
    const auto& shown = answer.message_bytes;
    declares_ = declares_ || declared || shown;
    if (declared && shown && *declared != *shown) {
      note(fmt::format("it declares {} bytes, and its message has {}", *declared, *shown));
    }
    return declared ? declared : shown;
  }

  void judge_directions() {
    const auto n = static_cast<double>(directions_.size());
    const double most = boost::math::gamma_q_inv(n, kRisk);
    const double least = bytes_of_directions(directions_, most);
    least_ = std::max(least_, least);
    if (surprise_of_answers(directions_, bytes_) > most) {
      note(
          fmt::format("it declares {:.4g} bytes in the mean of {} normal vectors, but answers as "
                      "near to them take at least {}",
                      std::accumulate(bytes_.begin(), bytes_.end(), 0.0) / n,
                      n,
                      least));
    }
  }

  bool deterministic_;
  bool declares_ = false;
  std::string fault_;
  double least_ = 0;  // bytes that a message is known to take
  std::vector<float> first_;
  std::vector<float> silent_;  // the first answer of 0 bytes
  std::vector<double> directions_;
  std::vector<double> bytes_;
};

}  // namespace

LawFinding bytes_finding(CompressorSession& session, const CompressorClaims& claims) {
  constexpr std::uint32_t kOfRandomBits = 8;
  constexpr std::uint32_t kNormal = 32;
  const std::size_t d = session.dimension();
  BytesWatch watch(!claims.random);
  for (std::uint32_t number = 0; number < kOfRandomBits; ++number) {
    const auto x = random_bits(d, number);
    watch.take_random_bits(x, session.ask_fresh(x, fmt::format("random bits {}", number + 1)));
  }
  for (std::uint32_t number = 0; number < kNormal; ++number) {
    const auto x = normal_singles(d, number);
    watch.take_normal(x, session.ask_fresh(x, fmt::format("normal {}", number + 1)));
  }
  return watch.finding();
}

}  // namespace residuum::laws
