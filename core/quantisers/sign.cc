// Scaled sign sends the sign of each value and one scale, the mean magnitude m = |x|_1 / n:
//   Q(x)_i = m if x_i >= 0, else -m.
// Then |x - Q(x)|^2 = |x|^2 - |x|_1^2 / n, and |x|_1 >= |x| makes it a contraction with alpha = 1/n
// (Karimireddy, Rebjock, Stich, Jaggi, ICML 2019, lemma 8). A zero is sent as m; the equality
// holds with it.
//
// The packed form is m, then a bit for each value, 1 where it is negative.

#include "core/quantisers/packed_codes.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

double total_magnitude(std::span<const float> x) { return sum_of_magnitudes(x); }
double total_magnitude(std::span<const double> x) { return magnitude_sums(x).sum; }

class Sign final : public QuantiserFor<Sign> {
 public:
  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& /*random*/,
                     std::span<std::byte> coded) const {
    const auto scale =
        static_cast<Real>(total_magnitude(values) / static_cast<double>(values.size()));
    write_numbers(std::span(&scale, 1), coded);
    pack_in_blocks(
        values.size(), 1, coded.subspan(sizeof(Real)), [&](std::size_t first, auto codes) {
          negatives_of(values.subspan(first, codes.size()), codes.data());
        });
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    const auto scale = read_scale<Real>(coded);
    const std::array<Real, 16> table{scale, -scale};
    unpack_in_blocks(
        values.size(), 1, coded.subspan(sizeof(Real)), [&](std::size_t first, auto codes) {
          values_of_codes<Real>(codes, table, values.subspan(first, codes.size()));
        });
  }

  static std::size_t bytes(std::size_t n, std::size_t value_bytes) {
    return value_bytes + bytes_of_codes(n, 1);
  }

  QuantiserLaw law(std::size_t n) const override {
    return {.contraction = 1 / static_cast<double>(n),
            .variance = std::nullopt,
            .random = false,
            .bits = 1};
  }
};

}  // namespace

std::unique_ptr<Quantiser> make_sign(const Section& /*section*/) {
  return std::make_unique<Sign>();
}

}  // namespace residuum
