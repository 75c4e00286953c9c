// Scaled sign sends the sign of each value and one scale, the mean magnitude m = |x|_1 / n:
//   Q(x)_i = m if x_i >= 0, else -m.
// Then |x - Q(x)|^2 = |x|^2 - |x|_1^2 / n, and |x|_1 >= |x| makes it a contraction with alpha = 1/n
// (Karimireddy, Rebjock, Stich, Jaggi, ICML 2019, lemma 8). A zero is sent as m; the equality
// holds with it.
//
// The packed form is m, then a bit for each value, 1 where it is negative. With scale = "one" it is
// the bits alone, and m is 1 (signSGD, Bernstein et al., ICML 2018; the 1-bit form of DeMo). No
// alpha > 0 holds for all x then: the shorter x is, the larger |x - Q(x)| is against it.

#include "core/quantisers/packed_codes.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

double total_magnitude(std::span<const float> x) { return sum_of_magnitudes(x); }
double total_magnitude(std::span<const double> x) { return magnitude_sums(x).sum; }

// Vectors make and read whole bytes of signs in float32. The rest goes by a code for each value.

std::size_t write_most_signs(std::span<const float> values, std::span<std::byte> bits) {
  return pack_negatives(values, as_numbers(bits.data()));
}
std::size_t write_most_signs(std::span<const double> /*values*/, std::span<std::byte> /*bits*/) {
  return 0;
}

template <class Real>
void write_signs(std::span<const Real> values, std::span<std::byte> bits) {
  const std::size_t packed = write_most_signs(values, bits);
  values = values.subspan(packed);
  bits = bits.subspan(bytes_of_codes(packed, 1));
  pack_in_blocks(values.size(), 1, bits, [&](std::size_t first, auto codes) {
    negatives_of(values.subspan(first, codes.size()), codes.data());
  });
}

std::size_t read_most_signs(std::span<const std::byte> bits, float scale, std::span<float> values) {
  return signed_by_bits(as_numbers(bits.data()), scale, values);
}
std::size_t read_most_signs(std::span<const std::byte> /*bits*/,
                            double /*scale*/,
                            std::span<double> /*values*/) {
  return 0;
}

template <class Real>
void read_signs(std::span<const std::byte> bits, Real scale, std::span<Real> values) {
  const std::size_t read = read_most_signs(bits, scale, values);
  values = values.subspan(read);
  bits = bits.subspan(bytes_of_codes(read, 1));
  const std::array<Real, 16> table{scale, -scale};
  unpack_in_blocks(values.size(), 1, bits, [&](std::size_t first, auto codes) {
    values_of_codes<Real>(codes, table, values.subspan(first, codes.size()));
  });
}

class Sign final : public QuantiserFor<Sign> {
 public:
  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& /*random*/,
                     std::span<std::byte> coded) const {
    const auto scale =
        static_cast<Real>(total_magnitude(values) / static_cast<double>(values.size()));
    write_numbers(std::span(&scale, 1), coded);
    write_signs(values, coded.subspan(sizeof(Real)));
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    read_signs(coded.subspan(sizeof(Real)), read_scale<Real>(coded), values);
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

class PlainSign final : public QuantiserFor<PlainSign> {
 public:
  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& /*random*/,
                     std::span<std::byte> coded) const {
    write_signs(values, coded);
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    read_signs(coded, Real{1}, values);
  }

  static std::size_t bytes(std::size_t n, std::size_t /*value_bytes*/) {
    return bytes_of_codes(n, 1);
  }

  QuantiserLaw law(std::size_t /*n*/) const override {
    return {.contraction = std::nullopt, .variance = std::nullopt, .random = false, .bits = 1};
  }
};

}  // namespace

std::unique_ptr<Quantiser> make_sign(const Section& section) {
  if (section.choice("scale", {"mean", "one"}, "mean") == "one") {
    return std::make_unique<PlainSign>();
  }
  return std::make_unique<Sign>();
}

}  // namespace residuum
