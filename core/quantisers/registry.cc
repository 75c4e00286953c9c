#include <array>
#include <string>
#include <vector>

#include "core/quantisers/quantiser.h"

namespace residuum {

std::unique_ptr<Quantiser> make_sign(const Section& section);
std::unique_ptr<Quantiser> make_qsgd(const Section& section);
std::unique_ptr<Quantiser> make_terngrad(const Section& section);
std::unique_ptr<Quantiser> make_natural(const Section& section);
std::unique_ptr<Quantiser> make_linear(const Section& section);
std::unique_ptr<Quantiser> make_table(const Section& section);

namespace {

constexpr auto kQuantisers = std::to_array<Entry<Quantiser>>({
    {"sign",
     "one bit: the sign, times the mean magnitude or 1",
     "Karimireddy et al., ICML 2019 (scaled sign)",
     "{}",
     make_sign},
    {"qsgd",
     "sign and level of `bits` bits, rounded at random; one norm for each `bucket` of values",
     "Alistarh et al., NIPS 2017 (QSGD)",
     R"({"bits": 4})",
     make_qsgd},
    {"terngrad",
     "two bits: -1, 0 or 1 at random, times the largest magnitude",
     "Wen et al., NIPS 2017 (TernGrad)",
     "{}",
     make_terngrad},
    {"natural",
     "nine bits: sign and exponent, rounded at random to a power of two",
     "Horvath et al., MSML 2022 (natural compression)",
     "{}",
     make_natural},
    {"linear",
     "a level of `bits` bits between the smallest and the largest value, rounded at random",
     "Suresh, Yu, Kumar, McMahan, ICML 2017",
     R"({"bits": 4})",
     make_linear},
    {"table",
     "two bits: four bins of 1.5 standard deviations, each decoded as its mean",
     "Sarfi et al. 2025 (SparseLoCo)",
     "{}",
     make_table},
});

}  // namespace

std::span<const Entry<Quantiser>> quantisers() { return registry_of<Quantiser>(kQuantisers); }

std::unique_ptr<Quantiser> make_quantiser(const Section& section) {
  return make_optional_from(quantisers(), {.key = "kind", .none = "none"}, section);
}

QuantiserLaw unbiased_law(double omega, bool shrinks, int bits) {
  QuantiserLaw law{.contraction = std::nullopt, .variance = omega, .random = true, .bits = bits};
  if (shrinks) {
    law.contraction = 1 / (1 + omega);
    law.variance = std::nullopt;
  } else if (omega < 1) {
    law.contraction = 1 - omega;
  }
  return law;
}

void check_coded(bool is_sound) {
  if (!is_sound) {
    throw Error(ExitCode::internal,
                "a quantised message is damaged; run the same build of the program on all "
                "processes");
  }
}

int quantiser_bits_from(const Section& section, int least) {
  constexpr std::int64_t kMostBits = 16;
  const auto bits = section.integer("bits", 4);
  require(bits >= least && bits <= kMostBits,
          "{} must lie in {}..{}, got {}: it is the bits of one value{}",
          section.where("bits"),
          least,
          kMostBits,
          bits,
          least > 1 ? ", of which one is the sign" : "");
  return static_cast<int>(bits);
}

bool shrinks_from(const Section& section) { return section.flag("shrink", false); }

}  // namespace residuum
