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
    const auto [lo, hi] = std::minmax_element(values.begin(), values.end());
    const double shrinkage = shrinks_ ? 1 + omega(values.size()) : 1;
    const std::array<Real, 2> ends{static_cast<Real>(static_cast<double>(*lo) / shrinkage),
                                   static_cast<Real>(static_cast<double>(*hi) / shrinkage)};
    write_numbers(std::span<const Real>(ends), coded);
    const double lifted = lift(static_cast<double>(std::max(std::abs(*lo), std::abs(*hi))));
    const double least = lifted * static_cast<double>(*lo);
    const double range = lifted * static_cast<double>(*hi) - least;
    const double per_range = range > 0 ? top_ / range : 0;
    CodeWriter codes(coded.subspan(2 * sizeof(Real)), bits_);
    for (const Real value : values) {
      const double y = (lifted * static_cast<double>(value) - least) * per_range;
      codes.put(rounded_at_random(y, random.bits(), top_));
    }
    codes.finish();
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    std::array<Real, 2> ends{};
    read_numbers(coded, std::span<Real>(ends));
    check_coded(std::isfinite(ends[0]) && std::isfinite(ends[1]) && ends[0] <= ends[1]);
    CodeReader codes(coded.subspan(2 * sizeof(Real)), bits_);
    for (Real& value : values) {
      const std::uint32_t level = codes.get();
      const double from_lo = static_cast<double>(top_ - level) / top_;
      const double from_hi = static_cast<double>(level) / top_;
      value = static_cast<Real>(from_lo * static_cast<double>(ends[0]) +
                                from_hi * static_cast<double>(ends[1]));
    }
    check_end(codes);
  }

  std::size_t bytes(std::size_t n, std::size_t value_bytes) const {
    return 2 * value_bytes + bytes_of_codes(n, bits_);
  }

  QuantiserLaw law(std::size_t n) const override { return unbiased_law(omega(n), shrinks_, bits_); }

 private:
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
