// QSGD (Alistarh, Grubic, Li, Tomioka, Vojnovic, NIPS 2017) rounds magnitudes at random to levels
// of the norm. With b bits there are s = 2^(b-1) - 1 levels and the sign:
//   Q(x)_i = |x| sgn(x_i) l_i / s,  l_i in {floor, ceil} of s |x_i| / |x|,  E l_i = s |x_i| / |x|.
// It is unbiased with omega = min(n/s^2, sqrt(n)/s) (lemma 3.1). The bound grows with n, so that,
// as in the paper, each `bucket` of successive values has a norm of its own; the last may be
// shorter.
//
// With `levels` = "natural" the levels are powers of two, 0 and 2^(l - s) for l = 1 .. s (natural
// dithering: Horvath, Ho, Horvath, Sahu, Canini, Richtarik, MSML 2022, definition 6). Of the two
// around |x_i| / |x| one is taken at random, so that the mean is x. It is unbiased with
//   omega = 1/8 + sqrt(n) 2^(1-s) min(1, sqrt(n) 2^(1-s))
// (theorem 7 with p = 2), far less than above where there are more than three bits.
//
// The packed form is the norms, over 1 + omega with `shrink`, then the codes 2 l_i + (x_i < 0).

#include <algorithm>
#include <array>
#include <cmath>

#include "core/quantisers/packed_codes.h"
#include "core/quantisers/rounding.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Returns |x|, at most the largest number. Float64 has room for the squares of floats.
float norm_of_bucket(std::span<const float> x) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<float>::max());
  return static_cast<float>(std::min(std::sqrt(sum_of_squares(x)), kMost));
}
double norm_of_bucket(std::span<const double> x) {
  const double lifted = lift(norm_inf(x));
  double sum = 0;
  for (const double value : x) {
    sum += lifted * value * lifted * value;
  }
  return std::sqrt(sum) / lifted;
}

class Qsgd final : public QuantiserFor<Qsgd> {
 public:
  Qsgd(int bits, std::size_t bucket, bool shrinks, bool has_natural_levels)
      : bits_(bits),
        levels_((1U << (bits - 1)) - 1),
        bucket_(bucket),
        shrinks_(shrinks),
        has_natural_levels_(has_natural_levels) {}

  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& random,
                     std::span<std::byte> coded) const {
    const auto codes = coded.subspan(buckets(values.size()) * sizeof(Real));
    if (bits_ <= kMostPacked && !has_natural_levels_) {
      Scaler<Real> scaler(*this, values, coded);
      std::array<std::uint8_t, kCodesAtOnce> bytes{};
      pack_in_blocks(values.size(), bits_, codes, [&](std::size_t first, auto block) {
        fill_bytes(random, std::span(bytes).first(block.size()));
        scaler.for_pieces(first, block.size(), [&](std::size_t at, std::span<const Real> piece) {
          levels_of(piece, &bytes[at - first], scaler.factors(), random, &block[at - first]);
        });
      });
      return;
    }
    Scaler<Real> scaler(*this, values, coded);
    CodeWriter writer(codes, bits_);
    scaler.for_pieces(0, values.size(), [&](std::size_t /*at*/, std::span<const Real> piece) {
      for (const Real value : piece) {
        writer.put(code_of(value, random.bits(), scaler.factors()));
      }
    });
    writer.finish();
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    const auto codes = coded.subspan(buckets(values.size()) * sizeof(Real));
    if (bits_ <= kMostLookedUp) {
      decode_by_table<Real>(coded, codes, values);
      return;
    }
    CodeReader reader(codes, bits_);
    for (std::size_t b = 0; b < buckets(values.size()); ++b) {
      const auto scale = read_scale<Real>(coded.subspan(b * sizeof(Real)));
      for (Real& value : bucket_of(values, b)) {
        const std::uint32_t code = reader.get();
        check_coded(code != 1);  // zero has no sign
        value = value_of_code(code, scale);
      }
    }
    check_end(reader);
  }

  std::size_t bytes(std::size_t n, std::size_t value_bytes) const {
    return buckets(n) * value_bytes + bytes_of_codes(n, bits_);
  }

  QuantiserLaw law(std::size_t n) const override { return unbiased_law(omega(n), shrinks_, bits_); }

 private:
  static constexpr int kMostPacked = 8;
  static constexpr int kMostLookedUp = 4;

  /// A magnitude becomes a level when it is multiplied by the first and then by the second.
  template <class Real>
  struct Factors {
    Real first = 1;
    Real second = 0;
  };

  /// Goes through values in the order of their buckets and writes the norm of each that it enters.
  template <class Real>
  class Scaler {
   public:
    Scaler(const Qsgd& rule, std::span<const Real> values, std::span<std::byte> norms)
        : rule_(rule), values_(values), norms_(norms) {}

    /// Calls act(at, piece) for the parts of values[first .. first + n) that share a bucket.
    template <class Act>
    void for_pieces(std::size_t first, std::size_t n, const Act& act) {
      for (std::size_t at = first; at < first + n;) {
        const std::size_t b = at / rule_.bucket_;
        if (b == next_) {
          enter(b);
          ++next_;
        }
        const std::size_t end = std::min(first + n, (b + 1) * rule_.bucket_);
        act(at, values_.subspan(at, end - at));
        at = end;
      }
    }
    const Factors<Real>& factors() const { return factors_; }

   private:
    void enter(std::size_t b) {
      const Real norm = norm_of_bucket(rule_.bucket_of(values_, b));
      const auto sent =
          static_cast<Real>(static_cast<double>(norm) / rule_.shrinkage(values_.size()));
      write_numbers(std::span(&sent, 1), norms_.subspan(b * sizeof(Real)));
      factors_.first = lift(norm);
      const auto top = static_cast<Real>(rule_.has_natural_levels_ ? 1 : rule_.levels_);
      factors_.second = norm > 0 ? top / (norm * factors_.first) : Real{0};
    }

    const Qsgd& rule_;
    std::span<const Real> values_;
    std::span<std::byte> norms_;
    std::size_t next_ = 0;  // bucket
    Factors<Real> factors_;
  };

  template <class Real>
  std::uint32_t code_of(Real value, std::uint32_t draw, const Factors<Real>& factors) const {
    const Real y = std::abs(value) * factors.first * factors.second;
    const std::uint32_t level =
        has_natural_levels_ ? natural_level(y, draw) : rounded_at_random(y, draw, levels_);
    return level == 0 ? 0 : 2 * level + (value < 0 ? 1 : 0);
  }
  /// Rounds y in [0, 1] to one of the powers of two around it, or to 0 and the least of them.
  template <class Real>
  std::uint32_t natural_level(Real y, std::uint32_t draw) const {
    if (y == 0) {
      return 0;
    }
    const int top = static_cast<int>(levels_);
    const int below = std::min(std::ilogb(y), 0);  // 2^below <= y
    if (below < 1 - top) {
      return rounded_at_random(std::scalbn(y, top - 1), draw, 1);
    }
    const std::uint32_t once_or_twice = rounded_at_random(std::scalbn(y, -below), draw, 2);
    return std::min(static_cast<std::uint32_t>(top + below) + once_or_twice - 1, levels_);
  }
  template <class Real>
  Real value_of_code(std::uint32_t code, Real scale) const {
    const std::uint32_t level = code / 2;
    const auto magnitude =
        static_cast<Real>(has_natural_levels_ ? natural_magnitude(scale, level)
                                              : static_cast<double>(scale) * level / levels_);
    return code % 2 == 0 ? magnitude : -magnitude;
  }

  double natural_magnitude(double scale, std::uint32_t level) const {
    return level == 0 ? 0 : std::scalbn(scale, static_cast<int>(level) - static_cast<int>(levels_));
  }

  void levels_of(std::span<const float> x,
                 const std::uint8_t* bytes,
                 const Factors<float>& factors,
                 RandomStream& random,
                 std::uint8_t* codes) const {
    const LevelFactors both{.first = factors.first, .second = factors.second};
    draw_levels(x, bytes, both, levels_, random, codes);
  }
  void levels_of(std::span<const double> x,
                 const std::uint8_t* /*bytes*/,
                 const Factors<double>& factors,
                 RandomStream& random,
                 std::uint8_t* codes) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      codes[i] = static_cast<std::uint8_t>(code_of(x[i], random.bits(), factors));
    }
  }

  template <class Real>
  void decode_by_table(std::span<const std::byte> norms,
                       std::span<const std::byte> codes,
                       std::span<Real> values) const {
    std::array<Real, 16> table{};
    std::size_t next = 0;  // bucket
    unpack_in_blocks(values.size(), bits_, codes, [&](std::size_t first, auto block) {
      check_coded(!has_code(block, 1));  // zero has no sign
      const std::size_t past = first + block.size();
      for (std::size_t at = first; at < past;) {
        const std::size_t b = at / bucket_;
        if (b == next) {
          make_table(read_scale<Real>(norms.subspan(b * sizeof(Real))), table);
          ++next;
        }
        const std::size_t n = std::min(past, (b + 1) * bucket_) - at;
        values_of_codes<Real>(block.subspan(at - first, n), table, values.subspan(at, n));
        at += n;
      }
    });
  }

  template <class Real>
  void make_table(Real scale, std::array<Real, 16>& table) const {
    for (std::uint32_t code = 0; code <= 2 * levels_ + 1; ++code) {
      table[code] = value_of_code(code, scale);
    }
  }

  double omega(std::size_t n) const {
    const auto size = static_cast<double>(std::min(n, bucket_));
    const double s = levels_;
    if (has_natural_levels_) {
      const double below = std::sqrt(size) * std::exp2(1 - s);
      return 1.0 / 8 + below * std::min(1.0, below);
    }
    return std::min(size / (s * s), std::sqrt(size) / s);
  }
  double shrinkage(std::size_t n) const { return shrinks_ ? 1 + omega(n) : 1; }
  std::size_t buckets(std::size_t n) const { return (n + bucket_ - 1) / bucket_; }
  template <class Value>
  std::span<Value> bucket_of(std::span<Value> values, std::size_t b) const {
    return values.subspan(b * bucket_, std::min(bucket_, values.size() - b * bucket_));
  }

  int bits_;
  std::uint32_t levels_;  // s
  std::size_t bucket_;
  bool shrinks_;
  bool has_natural_levels_;
};

}  // namespace

std::unique_ptr<Quantiser> make_qsgd(const Section& section) {
  constexpr int kMostNaturalBits = 8;
  const int bits = quantiser_bits_from(section, 2);
  const auto bucket = section.integer("bucket", 512);
  require(bucket >= 1,
          "{} must be at least 1, got {}: it is how many values share a norm",
          section.where("bucket"),
          bucket);
  const bool natural = section.choice("levels", {"uniform", "natural"}, "uniform") == "natural";
  require(
      !natural || bits <= kMostNaturalBits,
      "{} must be at most {} with levels = \"natural\", whose least level is then 2^-126; got {}",
      section.where("bits"),
      kMostNaturalBits,
      bits);
  return std::make_unique<Qsgd>(
      bits, static_cast<std::size_t>(bucket), shrinks_from(section), natural);
}

}  // namespace residuum
