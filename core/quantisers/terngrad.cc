// TernGrad (Wen, Xu, Yan, Wu, Wang, Chen, Li, NIPS 2017) sends m sgn(x_i) b_i, m the largest
// magnitude and b_i = 1 with probability |x_i|/m, else 0. It is unbiased, and E|Q(x) - x|^2 = m
// |x|_1 - |x|^2. With m = 1, m |x|_1 / |x|^2 is largest where all other magnitudes are 1/(sqrt(n) +
// 1): omega = (sqrt(n) - 1)/2, and no smaller one holds. The paper's clipping of gradients at 2.5
// standard deviations is not part of this quantiser.
//
// The packed form is m, over 1 + omega with `shrink`, then two bits a value: 0, 1 (m) or 2 (-m).

#include <algorithm>
#include <array>
#include <cmath>

#include "core/quantisers/packed_codes.h"
#include "core/quantisers/rounding.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

constexpr int kTernaryBits = 2;

class TernGrad final : public QuantiserFor<TernGrad> {
 public:
  explicit TernGrad(bool shrinks) : shrinks_(shrinks) {}

  template <class Real>
  void encode_values(std::span<const Real> values,
                     RandomStream& random,
                     std::span<std::byte> coded) const {
    const Real largest = norm_inf(values);
    const double shrinkage = shrinks_ ? 1 + omega(values.size()) : 1;
    const auto sent = static_cast<Real>(static_cast<double>(largest) / shrinkage);
    write_numbers(std::span(&sent, 1), coded);
    const auto target = coded.subspan(sizeof(Real));
    pack_in_blocks(values.size(), kTernaryBits, target, [&](std::size_t first, auto codes) {
      draw_codes(values.subspan(first, codes.size()), largest, random, codes);
    });
  }

  template <class Real>
  void decode_values(std::span<const std::byte> coded, std::span<Real> values) const {
    const auto scale = read_scale<Real>(coded);
    const std::array<Real, 16> table{0, scale, -scale};
    const auto source = coded.subspan(sizeof(Real));
    unpack_in_blocks(values.size(), kTernaryBits, source, [&](std::size_t first, auto codes) {
      check_coded(!has_code(codes, 3));
      values_of_codes<Real>(codes, table, values.subspan(first, codes.size()));
    });
  }

  static std::size_t bytes(std::size_t n, std::size_t value_bytes) {
    return value_bytes + bytes_of_codes(n, kTernaryBits);
  }

  QuantiserLaw law(std::size_t n) const override {
    return unbiased_law(omega(n), shrinks_, kTernaryBits);
  }

 private:
  static void draw_codes(std::span<const float> x,
                         float largest,
                         RandomStream& random,
                         std::span<std::uint8_t> codes) {
    std::array<std::uint8_t, kCodesAtOnce> bytes;  // NOLINT(*-member-init): written before read
    fill_bytes(random, std::span(bytes).first(x.size()));
    draw_levels(x, bytes.data(), factors_of_shares(largest), 1, random, codes.data());
    for (std::uint8_t& code : codes) {  // 2 and 3 become 1 and 2
      code = static_cast<std::uint8_t>(code - (code > 0 ? 1 : 0));
    }
  }
  static void draw_codes(std::span<const double> x,
                         double largest,
                         RandomStream& random,
                         std::span<std::uint8_t> codes) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const double share = largest > 0 ? std::abs(x[i]) / largest : 0;
      const std::uint32_t is_sent = rounded_at_random(share, random.bits(), 1);
      codes[i] = static_cast<std::uint8_t>(is_sent * (x[i] < 0 ? 2 : 1));
    }
  }

  static double omega(std::size_t n) { return (std::sqrt(static_cast<double>(n)) - 1) / 2; }

  bool shrinks_;
};

}  // namespace

std::unique_ptr<Quantiser> make_terngrad(const Section& section) {
  return std::make_unique<TernGrad>(shrinks_from(section));
}

}  // namespace residuum
