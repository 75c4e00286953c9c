// The reductions to small arguments and the coefficients of the polynomials are those of FDLIBM
// (Sun Microsystems 1993, e_exp.c and e_log.c). Every product is rounded: a processor that adds to
// unrounded products would have other bits.

#include "core/vectors/elementary_kernels.h"

#include <array>
#include <cstdint>
#include <cstring>

// SVE and RVV are disabled: vectors whose size is known only at run time cannot be kept in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vectors/elementary_kernels.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                                  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Numbers = hn::CappedTag<double, 8>;
using Bits = hn::RebindToUnsigned<Numbers>;
using Vector = hn::Vec<Numbers>;

constexpr double kLn2High = 0x1.62e42feep-1;  // its products with whole numbers are exact
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

/// Added to a number, it leaves the nearest whole number in the low bits.
constexpr double kRounder = 0x1.8p52;
constexpr std::uint64_t kRounderBits = 0x4338000000000000;
constexpr int kMantissaBits = 52;
constexpr std::uint64_t kExponentOfOne = 1023;

inline Vector number(double x) { return hn::Set(Numbers(), x); }
inline hn::Vec<Bits> bits(std::uint64_t x) { return hn::Set(Bits(), x); }

/// Returns c_0 + x (c_1 + x (c_2 + ...)).
template <std::size_t count>
Vector polynomial(Vector x, const std::array<double, count>& c) {
  Vector sum = number(c[count - 1]);
  for (std::size_t i = count - 1; i > 0; --i) {
    sum = hn::Add(hn::Mul(sum, x), number(c[i - 1]));
  }
  return sum;
}

/// Returns 2^n, for a whole number to which kRounder has been added.
Vector power_of_two(Vector rounded) {
  const auto n = hn::Sub(hn::BitCast(Bits(), rounded), bits(kRounderBits));
  return hn::BitCast(Numbers(), hn::ShiftLeft<kMantissaBits>(hn::Add(n, bits(kExponentOfOne))));
}

/// Returns exp(x) = 2^n exp(r), with |r| <= log(2)/2.
Vector exp_of(Vector x) {
  constexpr double kLog2E = 0x1.71547652b82fep0;
  constexpr double kBelowAll = -750;  // exp is 0 there already
  constexpr std::array<double, 5> kParts{1.66666666666666019037e-01,
                                         -2.77777777770155933842e-03,
                                         6.61375632143793436117e-05,
                                         -1.65339022054652515390e-06,
                                         4.13813679705723846039e-08};
  const auto rounder = number(kRounder);
  x = hn::IfThenElse(hn::Lt(x, number(kBelowAll)), number(kBelowAll), x);
  const auto n = hn::Sub(hn::Add(hn::Mul(x, number(kLog2E)), rounder), rounder);
  const auto high = hn::Sub(x, hn::Mul(n, number(kLn2High)));
  const auto low = hn::Mul(n, number(kLn2Low));
  const auto r = hn::Sub(high, low);
  const auto square = hn::Mul(r, r);
  const auto c = hn::Sub(r, hn::Mul(square, polynomial(square, kParts)));
  const auto rest = hn::Div(hn::Mul(r, c), hn::Sub(number(2), c));
  const auto small = hn::Sub(number(1), hn::Sub(hn::Sub(low, rest), high));
  // The least results are below the least power of two that has all its digits.
  const auto half = hn::Add(hn::Mul(n, number(0.5)), rounder);
  const auto other_half = hn::Add(hn::Sub(n, hn::Sub(half, rounder)), rounder);
  return hn::Mul(hn::Mul(small, power_of_two(half)), power_of_two(other_half));
}

/// Returns n log(2) + log(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2).
Vector log_of_parts(Vector n, Vector f) {
  constexpr std::array<double, 4> kOdd{6.666666666666735130e-01,
                                       2.857142874366239149e-01,
                                       1.818357216161805012e-01,
                                       1.479819860511658591e-01};
  constexpr std::array<double, 3> kEven{
      3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01};
  const auto s = hn::Div(f, hn::Add(number(2), f));
  const auto z = hn::Mul(s, s);
  const auto w = hn::Mul(z, z);
  const auto rest = hn::Add(hn::Mul(z, polynomial(w, kOdd)), hn::Mul(w, polynomial(w, kEven)));
  const auto half_square = hn::Mul(number(0.5), hn::Mul(f, f));
  const auto small = hn::Add(hn::Mul(s, hn::Add(half_square, rest)), hn::Mul(n, number(kLn2Low)));
  return hn::Sub(hn::Mul(n, number(kLn2High)), hn::Sub(hn::Sub(half_square, small), f));
}

/// Returns log(1 + x). The argument is halved where 1 + x is above sqrt(2).
Vector log_one_plus_of(Vector x) {
  constexpr double kRootTwoLessOne = 0x1.a827999fcef32p-2;
  const auto halves = hn::Gt(x, number(kRootTwoLessOne));
  const auto halved = hn::Mul(hn::Sub(x, number(1)), number(0.5));
  return log_of_parts(hn::IfThenElseZero(halves, number(1)), hn::IfThenElse(halves, halved, x));
}

Vector log_of(Vector x) {
  constexpr std::uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
  constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
  const auto raised =
      hn::Add(hn::BitCast(Bits(), x), bits((kExponentOfOne << kMantissaBits) - kRootOfHalf));
  const auto exponent = hn::Sub(hn::ShiftRight<kMantissaBits>(raised), bits(kExponentOfOne));
  const auto n =
      hn::Sub(hn::BitCast(Numbers(), hn::Add(exponent, bits(kRounderBits))), number(kRounder));
  const auto part = hn::Add(hn::And(raised, bits(kMantissa)), bits(kRootOfHalf));
  const auto found = log_of_parts(n, hn::Sub(hn::BitCast(Numbers(), part), number(1)));
  return hn::IfThenElse(hn::Eq(x, x), found, x);
}

/// x_i := f(x_i). The last, short vector passes through memory of its own.
template <class Function>
void map(double* x, std::size_t size, Function f) {
  const Numbers d;
  const std::size_t width = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + width <= size; i += width) {
    hn::StoreU(f(hn::LoadU(d, x + i)), d, x + i);
  }
  if (i < size) {
    std::array<double, hn::MaxLanes(Numbers())> last{};
    std::memcpy(last.data(), x + i, (size - i) * sizeof(double));
    hn::StoreU(f(hn::LoadU(d, last.data())), d, last.data());
    std::memcpy(x + i, last.data(), (size - i) * sizeof(double));
  }
}

void exp_all(double* x, std::size_t size) {
  map(x, size, [](Vector v) { return exp_of(v); });
}
void log_one_plus_all(double* x, std::size_t size) {
  map(x, size, [](Vector v) { return log_one_plus_of(v); });
}
void log_all(double* x, std::size_t size) {
  map(x, size, [](Vector v) { return log_of(v); });
}

constexpr static ElementaryKernels kElementary{
    .exp = exp_all, .log_one_plus = log_one_plus_all, .log = log_all};

const ElementaryKernels* elementary() { return &kElementary; }

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum {

HWY_EXPORT(elementary);

const ElementaryKernels& elementary_kernels() { return *HWY_DYNAMIC_DISPATCH(elementary)(); }

}  // namespace residuum
#endif
