// Linear stochastic quantisation with b bits (Suresh, Yu, Kumar, McMahan, ICML 2017, "stochastic
// k-level quantisation") has the k = 2^b levels lo + l (hi - lo)/(k - 1) between the smallest and
// the largest value, and rounds each value at random to one of the two levels around it. It is
// unbiased, with E|Q(x) - x|^2 <= n (hi - lo)^2 / (4 (k - 1)^2) and (hi - lo)^2 <= 2 |x|^2, hence
// omega = n / (2 (k - 1)^2) (theorem 2). One value alone is sent as it is.
//
// The packed form is lo and hi, over 1 + omega with `shrink`, then the levels l of b bits.

#include <algorithm>
#include <array>
#include <cmath>

#include "core/quantisers/packed_codes.h"
#include "core/quantisers/rounding.h"

namespace residuum {
namespace {

class Linear final : public QuantiserFor<Linear> {
 public:
  Linear(int bits, bool shrinks) : bits_(bits), top_((1U << bits) - 1), shrinks_(shrinks) {}

  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& random,
                     std::span<std::byte> coded) const {
    const auto [lo, hi] = ends_of(values);
    const double shrinkage = shrinks_ ? 1 + omega(values.size()) : 1;
    const std::array<Real, 2> ends{static_cast<Real>(static_cast<double>(lo) / shrinkage),
                                   static_cast<Real>(static_cast<double>(hi) / shrinkage)};
    write_numbers(std::span<const Real>(ends), coded);
    LinearScale<double> scale;
    scale.first = lift(static_cast<Real>(std::max(std::abs(lo), std::abs(hi))));
    scale.least = scale.first * static_cast<double>(lo);
    const double range = scale.first * static_cast<double>(hi) - scale.least;
    scale.second = range > 0 ? top_ / range : 0;
    const auto target = coded.subspan(2 * sizeof(Real));
    if (sizeof(Real) == sizeof(float) && bits_ <= kMostPacked) {
      encode_in_blocks(values, scale, random, target);
      return;
    }
    CodeWriter codes(target, bits_);
    for (const Real value : values) {
      codes.put(rounded_at_random(scale.of(static_cast<double>(value)), random.bits(), top_));
    }
    codes.finish();
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    std::array<Real, 2> ends{};
    read_numbers(coded, std::span<Real>(ends));
    check_coded(std::isfinite(ends[0]) && std::isfinite(ends[1]) && ends[0] <= ends[1]);
    const auto source = coded.subspan(2 * sizeof(Real));
    if (bits_ <= kMostPacked) {
      decode_by_table(source, ends, values);
      return;
    }
    CodeReader codes(source, bits_);
    for (Real& value : values) {
      value = value_of(codes.get(), ends);
    }
    check_end(codes);
  }

  std::size_t bytes(std::size_t n, std::size_t value_bytes) const {
    return 2 * value_bytes + bytes_of_codes(n, bits_);
  }

  QuantiserLaw law(std::size_t n) const override { return unbiased_law(omega(n), shrinks_, bits_); }

 private:
  static constexpr int kMostPacked = 8;
  static constexpr int kMostLookedUp = 4;

  template <class Real>
  struct Ends {
    Real lo, hi;
  };

  /// Returns the first of the smallest values and the last of the largest. The order matters for
  /// zeros, which have signs.
  static Ends<float> ends_of(std::span<const float> values) {
    const auto [least, largest] = extremes_of(values);
    return least != 0 && largest != 0 ? Ends<float>{least, largest} : ends_in_order(values);
  }
  static Ends<double> ends_of(std::span<const double> values) { return ends_in_order(values); }

  template <class Real>
  static Ends<Real> ends_in_order(std::span<const Real> values) {
    const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
    return {*lo, *hi};
  }

  void encode_in_blocks(std::span<const float> values,
                        const LinearScale<double>& in_double,
                        RandomStream& random,
                        std::span<std::byte> target) const {
    const LinearScale<float> scale{.first = static_cast<float>(in_double.first),
                                   .least = static_cast<float>(in_double.least),
                                   .second = static_cast<float>(in_double.second)};
    std::array<std::uint8_t, kCodesAtOnce> bytes{};
    std::array<std::uint16_t, kCodesAtOnce> ties{};
    pack_in_blocks(values.size(), bits_, target, [&](std::size_t first, auto codes) {
      const auto x = values.subspan(first, codes.size());
      fill_bytes(random, std::span(bytes).first(x.size()));
      const std::size_t n = linear_codes(x, bytes.data(), scale, top_, codes.data(), ties.data());
      for (const std::uint16_t i : std::span(ties).first(n)) {
        codes[i] = static_cast<std::uint8_t>(rounded_by_byte(
            scale.of(x[i]), std::byte{bytes[i]}, top_, [&] { return random.bits(); }));
      }
    });
  }
  void encode_in_blocks(std::span<const double> /*values*/,
                        const LinearScale<double>& /*scale*/,
                        RandomStream& /*random*/,
                        std::span<std::byte> /*target*/) const {}

  template <class Real>
  Real value_of(std::uint32_t level, const std::array<Real, 2>& ends) const {
    const double from_lo = static_cast<double>(top_ - level) / top_;
    const double from_hi = static_cast<double>(level) / top_;
    return static_cast<Real>(from_lo * static_cast<double>(ends[0]) +
                             from_hi * static_cast<double>(ends[1]));
  }

  template <class Real>
  void decode_by_table(std::span<const std::byte> source,
                       const std::array<Real, 2>& ends,
                       std::span<Real> values) const {
    std::array<Real, (1U << kMostPacked)> table{};
    for (std::uint32_t level = 0; level <= top_; ++level) {
      table[level] = value_of(level, ends);
    }
    std::array<Real, 16> first_levels{};
    std::copy_n(table.begin(), first_levels.size(), first_levels.begin());
    unpack_in_blocks(values.size(), bits_, source, [&](std::size_t first, auto codes) {
      const auto x = values.subspan(first, codes.size());
      if (bits_ <= kMostLookedUp) {
        values_of_codes<Real>(codes, first_levels, x);
        return;
      }
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = table[codes[i]];
      }
    });
  }

  double omega(std::size_t n) const {
    const double steps = top_;
    return n == 1 ? 0 : static_cast<double>(n) / (2 * steps * steps);
  }

  int bits_;
  std::uint32_t top_;  // k - 1
  bool shrinks_;
};

}  // namespace

std::unique_ptr<Quantiser> make_linear(const Section& section) {
  const int bits = quantiser_bits_from(section, 1);
  return std::make_unique<Linear>(bits, shrinks_from(section));
}

}  // namespace residuum
