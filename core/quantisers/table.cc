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
    double sum_sq = 0;
    for (const Real value : values) {
      const double difference = lifted * static_cast<double>(value) - mean_;
      sum_sq += difference * difference;
    }
    width_ = 6.0 / kBins * std::sqrt(sum_sq / static_cast<double>(values.size()));
  }

  std::size_t of(double value) const {
    const double bins = (lifted_ * value - mean_) / width_ + kBins / 2.0;
    return width_ > 0 ? static_cast<std::size_t>(std::clamp(std::round(bins), 0.0, kBins - 1.0))
                      : kBins / 2;
  }

  /// Returns the least float in each bin but the first: of() does not fall where values rise.
  BinStarts starts() const {
    BinStarts starts{};
    for (std::size_t bin = 1; bin < kBins; ++bin) {
      starts[bin - 1] = least_in(bin);
    }
    return starts;
  }

 private:
  template <class Real>
  static double mean_of(std::span<const Real> values) {
    return magnitude_sums(values).signed_sum / static_cast<double>(values.size());
  }

  /// Finds the least float that is in this bin or a higher one, infinity if there is none, by
  /// halving the range of the floats in their order.
  float least_in(std::size_t bin) const {
    constexpr std::int32_t kInfinity = 0x7F800000;  // its bits
    std::int32_t below = -kInfinity;
    std::int32_t reaching = kInfinity;
    while (reaching - std::int64_t{below} > 1) {
      const auto middle =
          static_cast<std::int32_t>((std::int64_t{below} + std::int64_t{reaching}) >> 1);
      (of(static_cast<double>(in_order(middle))) >= bin ? reaching : below) = middle;
    }
    return in_order(reaching);
  }

  /// The n-th float above zero, or below it.
  static float in_order(std::int32_t n) {
    const auto magnitude = std::bit_cast<float>(std::abs(n));
    return n < 0 ? -magnitude : magnitude;
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
    const Bins bins(values, lifted);
    const BinStarts starts = bins.starts();
    OfBins sums{};
    OfBins counts{};
    const auto target = coded.subspan(kBins * sizeof(Real));
    pack_in_blocks(values.size(), kTableBits, target, [&](std::size_t first, auto codes) {
      const auto block = values.subspan(first, codes.size());
      find_bins(block, bins, starts, codes);
      add_by_bin(block, codes, sums, counts);
    });
    std::array<Real, kBins> means{};
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      means[bin] = counts[bin] > 0 ? static_cast<Real>(sums[bin] / counts[bin]) : Real{0};
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

 private:
  static void find_bins(std::span<const float> x,
                        const Bins& /*bins*/,
                        const BinStarts& starts,
                        std::span<std::uint8_t> codes) {
    bins_of(x, starts, codes.data());
  }
  static void find_bins(std::span<const double> x,
                        const Bins& bins,
                        const BinStarts& /*starts*/,
                        std::span<std::uint8_t> codes) {
    std::transform(x.begin(), x.end(), codes.begin(), [&](double value) {
      return static_cast<std::uint8_t>(bins.of(value));
    });
  }

  using OfBins = std::array<double, kBins>;

  /// Adds values to the sums of their bins, each in the order of the values. A zero is added to the
  /// other sums, which keeps their bits: no place in memory is read that was just written.
  template <class Real>
  static void add_by_bin(std::span<const Real> x,
                         std::span<const std::uint8_t> codes,
                         OfBins& sums,
                         OfBins& counts) {
    static constexpr std::array<OfBins, kBins> kIsIn{
        {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    OfBins new_sums = sums;
    OfBins new_counts = counts;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto value = static_cast<double>(x[i]);
      const OfBins& is_in = kIsIn[codes[i]];
      for (std::size_t bin = 0; bin < kBins; ++bin) {
        new_sums[bin] += value * is_in[bin];
        new_counts[bin] += is_in[bin];
      }
    }
    sums = new_sums;
    counts = new_counts;
  }
};

}  // namespace

std::unique_ptr<Quantiser> make_table(const Section& /*section*/) {
  return std::make_unique<Table>();
}

}  // namespace residuum
