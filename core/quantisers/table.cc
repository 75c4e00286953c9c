// The table quantiser of SparseLoCo (Sarfi et al. 2025, and its code in tplr-ai/templar) has four
// bins around the mean mu, as wide as h = 1.5 standard deviations,
//   q_i = clamp(round((x_i - mu)/h + 2), 0, 3),  Q(x)_i = mean of the x_j with q_j = q_i.
// The four means travel along. Q(x) is the projection of x on the vectors that are constant on
// bins, so |x - Q(x)|^2 = |x|^2 - |Q(x)|^2.
//
// It is a contraction with alpha = (3/16) sqrt(7/n), but at most one. Let z = (x - mu)/std, so that
// |z|^2 = n. Inside the bin of mu |z_i| <= 3/4, and the other three bins have together sum z_i^2 >=
// 7n/16. All z_i of such a bin have one sign and |z_i| >= 3/4, hence the c entries of bin b have
// the sum S_b with c <= |S_b|/(3/4), and S_b^2/c >= (3/4)|S_b| >= (3/4) sqrt(sum of z_i^2 in b).
// Over the three bins this adds up to at least (3/4) sqrt(7n/16), of |z|^2 = n; the part of x along
// (1, .., 1) is kept and only adds.
//
// The packed form is the four means, then two bits a value.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "core/quantisers/packed_codes.h"
#include "core/quantisers/rounding.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

constexpr int kTableBits = 2;
constexpr std::size_t kBins = 4;

/// Bins tells in which bin a value is; values are lifted before.
class Bins {
 public:
  template <class Real>
  Bins(std::span<const Real> values, double lifted)
      : lifted_(lifted), mean_(lifted * mean_of(values)) {
    const double sum_sq = sum_of_squares_about(mean_, lifted, values);
    width_ = 6.0 / kBins * std::sqrt(sum_sq / static_cast<double>(values.size()));
  }

  /// Returns the least number in each bin but the first. Bins do not fall where values rise.
  template <class Real>
  BinStarts<Real> starts() const {
    BinStarts<Real> starts{};
    for (std::size_t bin = 1; bin < kBins; ++bin) {
      starts[bin - 1] = least_in<Real>(bin);
    }
    return starts;
  }

 private:
  template <class Real>
  static double mean_of(std::span<const Real> values) {
    return magnitude_sums(values).signed_sum / static_cast<double>(values.size());
  }

  std::size_t of(double value) const {
    const double bins = (lifted_ * value - mean_) / width_ + kBins / 2.0;
    return width_ > 0 ? static_cast<std::size_t>(std::clamp(std::round(bins), 0.0, kBins - 1.0))
                      : kBins / 2;
  }

  /// Returns the least number that is in this bin or a higher one, infinity if there is none. It
  /// halves the range of the numbers in their order.
  template <class Real>
  Real least_in(std::size_t bin) const {
    using Order = std::conditional_t<sizeof(Real) == sizeof(float), std::int32_t, std::int64_t>;
    constexpr auto kInfinity = std::bit_cast<Order>(std::numeric_limits<Real>::infinity());
    const auto in_order = [](Order n) {  // the n-th number above zero, or below it
      const auto magnitude = std::bit_cast<Real>(std::abs(n));
      return n < 0 ? -magnitude : magnitude;
    };
    Order below = -kInfinity;
    Order reaching = kInfinity;
    while (below + 1 < reaching) {
      const Order middle = std::midpoint(below, reaching);
      (of(static_cast<double>(in_order(middle))) >= bin ? reaching : below) = middle;
    }
    return in_order(reaching);
  }

  double lifted_;
  double mean_;
  double width_ = 0;
};

class Table final : public QuantiserFor<Table> {
 public:
  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& /*random*/,
                     std::span<std::byte> coded) const {
    // Floats are lifted where all of them are zero alone, which changes nothing.
    const double lifted =
        sizeof(Real) == sizeof(float) ? 1 : lift(static_cast<double>(norm_inf(values)));
    const auto starts = Bins(values, lifted).starts<Real>();
    BinSums of_bins;
    const auto target = coded.subspan(kBins * sizeof(Real));
    pack_in_blocks(values.size(), kTableBits, target, [&](std::size_t first, auto codes) {
      const auto block = values.subspan(first, codes.size());
      bins_of(block, starts, codes.data());
      add_to_bins(block, starts, of_bins);
    });
    std::array<Real, kBins> means{};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      const auto count = static_cast<double>(of_bins.counts[bin]);
      means[bin] = count > 0 ? static_cast<Real>(of_bins.sums[bin].total() / count) : Real{0};
    }
    write_numbers(std::span<const Real>(means), coded);
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    std::array<Real, kBins> means{};
    read_numbers(coded, std::span<Real>(means));
    check_coded(
        std::all_of(means.begin(), means.end(), [](Real mean) { return std::isfinite(mean); }));
    std::array<Real, 16> table{};
    std::copy(means.begin(), means.end(), table.begin());
    const auto source = coded.subspan(kBins * sizeof(Real));
    unpack_in_blocks(values.size(), kTableBits, source, [&](std::size_t first, auto codes) {
      values_of_codes<Real>(codes, table, values.subspan(first, codes.size()));
    });
  }

  static std::size_t bytes(std::size_t n, std::size_t value_bytes) {
    return kBins * value_bytes + bytes_of_codes(n, kTableBits);
  }

  QuantiserLaw law(std::size_t n) const override {
    return {.contraction = std::min(1.0, 3.0 / 16 * std::sqrt(7 / static_cast<double>(n))),
            .variance = std::nullopt,
            .random = false,
            .bits = kTableBits};
  }
};

}  // namespace

std::unique_ptr<Quantiser> make_table(const Section& /*section*/) {
  return std::make_unique<Table>();
}

}  // namespace residuum
