// The reductions to small arguments and the coefficients of the polynomials are those of FDLIBM
// (Sun Microsystems 1993). Every product is rounded: a processor that adds to unrounded products
// would have other bits.

#include "core/elementary.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numbers>

// SVE and RVV are disabled: vectors whose size is known only at run time cannot be kept in arrays.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/elementary.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                  // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double kLn2High = 0x1.62e42feep-1;  // its products with whole numbers are exact
constexpr double kLn2Low = 0x1.a39ef35793c76p-33;

/// Added to a number, it leaves the nearest whole number in the low bits.
constexpr double kRounder = 0x1.8p52;
constexpr std::uint64_t kRounderBits = 0x4338000000000000;
constexpr int kMantissaBits = 52;
constexpr std::uint64_t kExponentOfOne = 1023;

/// The functions of vectors of this kind, of one number or of several.
template <class Numbers>
struct Elementary {
  using Bits = hn::RebindToUnsigned<Numbers>;
  using Vector = hn::Vec<Numbers>;

  static HWY_INLINE Vector number(double x) { return hn::Set(Numbers(), x); }
  static HWY_INLINE hn::Vec<Bits> bits(std::uint64_t x) { return hn::Set(Bits(), x); }

  /// Returns c_0 + x (c_1 + x (c_2 + ...)).
  template <std::size_t count>
  static HWY_INLINE Vector polynomial(Vector x, const std::array<double, count>& c) {
    Vector sum = number(c[count - 1]);
    for (std::size_t i = count - 1; i > 0; --i) {
      sum = hn::Add(hn::Mul(sum, x), number(c[i - 1]));
    }
    return sum;
  }

  /// Returns 2^n, for a whole number to which kRounder has been added.
  static HWY_INLINE Vector power_of_two(Vector rounded) {
    const auto n = hn::Sub(hn::BitCast(Bits(), rounded), bits(kRounderBits));
    return hn::BitCast(Numbers(), hn::ShiftLeft<kMantissaBits>(hn::Add(n, bits(kExponentOfOne))));
  }

  /// Returns exp(x) = 2^n exp(r), with |r| <= log(2)/2.
  static HWY_INLINE Vector exp(Vector x) {
    constexpr double kLog2E = 0x1.71547652b82fep0;
    constexpr double kBeyondAll = 750;  // exp is infinite there, and 0 below its negative
    constexpr std::array<double, 5> kParts{1.66666666666666019037e-01,
                                           -2.77777777770155933842e-03,
                                           6.61375632143793436117e-05,
                                           -1.65339022054652515390e-06,
                                           4.13813679705723846039e-08};
    const auto rounder = number(kRounder);
    x = hn::IfThenElse(hn::Lt(x, number(-kBeyondAll)), number(-kBeyondAll), x);
    x = hn::IfThenElse(hn::Gt(x, number(kBeyondAll)), number(kBeyondAll), x);
    const auto n = hn::Sub(hn::Add(hn::Mul(x, number(kLog2E)), rounder), rounder);
    const auto high = hn::Sub(x, hn::Mul(n, number(kLn2High)));
    const auto low = hn::Mul(n, number(kLn2Low));
    const auto r = hn::Sub(high, low);
    const auto square = hn::Mul(r, r);
    const auto c = hn::Sub(r, hn::Mul(square, polynomial(square, kParts)));
    const auto rest = hn::Div(hn::Mul(r, c), hn::Sub(number(2), c));
    const auto small = hn::Sub(number(1), hn::Sub(hn::Sub(low, rest), high));
    // 2^n comes in two factors: that of the least results has too few digits to be one, and that of
    // the largest is too large.
    const auto half = hn::Add(hn::Mul(n, number(0.5)), rounder);
    const auto other_half = hn::Add(hn::Sub(n, hn::Sub(half, rounder)), rounder);
    return hn::Mul(hn::Mul(small, power_of_two(half)), power_of_two(other_half));
  }

  /// Returns n log(2) + log(1 + f) for sqrt(1/2) <= 1 + f <= sqrt(2).
  static HWY_INLINE Vector log_of_parts(Vector n, Vector f) {
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
  static HWY_INLINE Vector log_one_plus(Vector x) {
    constexpr double kRootTwoLessOne = 0x1.a827999fcef32p-2;
    const auto halves = hn::Gt(x, number(kRootTwoLessOne));
    const auto halved = hn::Mul(hn::Sub(x, number(1)), number(0.5));
    return log_of_parts(hn::IfThenElseZero(halves, number(1)), hn::IfThenElse(halves, halved, x));
  }

  /// A number is 2^n part, with sqrt(1/2) <= part <= sqrt(2).
  struct Parts {
    // An implicit constructor lacks the instructions that Arm's vectors need.
    HWY_INLINE Parts(Vector exponent, Vector rest) : n(exponent), part(rest) {}

    Vector n, part;
  };
  static HWY_INLINE Parts parts_of(Vector x) {
    constexpr std::uint64_t kRootOfHalf = 0x3FE6A09E667F3BCD;
    constexpr std::uint64_t kMantissa = (std::uint64_t{1} << kMantissaBits) - 1;
    const auto raised =
        hn::Add(hn::BitCast(Bits(), x), bits((kExponentOfOne << kMantissaBits) - kRootOfHalf));
    const auto exponent = hn::Sub(hn::ShiftRight<kMantissaBits>(raised), bits(kExponentOfOne));
    const auto n =
        hn::Sub(hn::BitCast(Numbers(), hn::Add(exponent, bits(kRounderBits))), number(kRounder));
    const auto part = hn::Add(hn::And(raised, bits(kMantissa)), bits(kRootOfHalf));
    return {n, hn::BitCast(Numbers(), part)};
  }

  static HWY_INLINE Vector log(Vector x) {
    const Parts parts = parts_of(x);
    const auto found = log_of_parts(parts.n, hn::Sub(parts.part, number(1)));
    return hn::IfThenElse(hn::Eq(x, x), found, x);
  }
};

using Wide = hn::CappedTag<double, 8>;

/// x_i := f(x_i). The last, short vector passes through memory of its own.
template <class Function>
void map(double* x, std::size_t size, Function f) {
  const Wide d;
  const std::size_t width = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + width <= size; i += width) {
    hn::StoreU(f(hn::LoadU(d, x + i)), d, x + i);
  }
  if (i < size) {
    std::array<double, hn::MaxLanes(Wide())> last{};
    std::memcpy(last.data(), x + i, (size - i) * sizeof(double));
    hn::StoreU(f(hn::LoadU(d, last.data())), d, last.data());
    std::memcpy(x + i, last.data(), (size - i) * sizeof(double));
  }
}

void exp_all(double* x, std::size_t size) {
  map(x, size, [](hn::Vec<Wide> v) { return Elementary<Wide>::exp(v); });
}
void log_one_plus_all(double* x, std::size_t size) {
  map(x, size, [](hn::Vec<Wide> v) { return Elementary<Wide>::log_one_plus(v); });
}
void log_all(double* x, std::size_t size) {
  map(x, size, [](hn::Vec<Wide> v) { return Elementary<Wide>::log(v); });
}

constexpr static ElementaryKernels kElementary{
    .exp = exp_all, .log_one_plus = log_one_plus_all, .log = log_all};

const ElementaryKernels* elementary_table() { return &kElementary; }

using One = hn::CappedTag<double, 1>;

double exp_of_one(double x) { return hn::GetLane(Elementary<One>::exp(hn::Set(One(), x))); }
double log_of_one(double x) { return hn::GetLane(Elementary<One>::log(hn::Set(One(), x))); }

/// x is 2^exponent part, with sqrt(1/2) <= part <= sqrt(2).
void parts_of_one(double x, double& exponent, double& part) {
  const auto parts = Elementary<One>::parts_of(hn::Set(One(), x));
  exponent = hn::GetLane(parts.n);
  part = hn::GetLane(parts.part);
}

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace residuum {

HWY_EXPORT(elementary_table);

const ElementaryKernels& elementary_kernels() { return *HWY_DYNAMIC_DISPATCH(elementary_table)(); }

namespace {

/// high + low, where low is below the last digit of high.
struct TwoPart {
  double high = 0;
  double low = 0;
};

/// Returns log(x) for finite x > 0, off by less than 2^-56 of itself. With s = (p - 1) / (p + 1),
/// log(p) = 2 s + 2 s^3 / 3 + 2 s^5 / 5 + ...; what follows 2 s is so small that one double holds
/// enough of it.
TwoPart precise_log(double x) {
  constexpr int kLastPower = 25;  // s^2 < 0.03
  constexpr int kRaised = 54;     // what is not a normal number is multiplied by 2^54
  const bool is_normal = x >= std::numeric_limits<double>::min();
  double n = 0;
  double p = 0;
  HWY_NAMESPACE::parts_of_one(is_normal ? x : std::ldexp(x, kRaised), n, p);
  n -= is_normal ? 0 : kRaised;
  const double sum = p + 1;
  const double lost = p - (sum - 1);
  const double s = (p - 1) / sum;
  const double s_low = (std::fma(-s, sum, p - 1) - s * lost) / sum;
  const double square = s * s;
  double series = 0;
  for (int power = kLastPower; power >= 3; power -= 2) {
    series = (series + 2.0 / power) * square;
  }
  const double of_exponent = n * HWY_NAMESPACE::kLn2High;
  const double high = of_exponent + 2 * s;
  const double back = high - of_exponent;
  const double rounded = (of_exponent - (high - back)) + (2 * s - back);
  const double low = rounded + (s * series + (2 * s_low + n * HWY_NAMESPACE::kLn2Low));
  return {.high = high + low, .low = low - ((high + low) - high)};
}

/// Returns sin(x) for |x| <= pi / 4 (FDLIBM, k_sin.c).
double small_sine(double x) {
  const double z = x * x;
  const double r = 8.33333333332248946124e-03 +
                   z * (-1.98412698298579493134e-04 +
                        z * (2.75573137070700676789e-06 +
                             z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  return x + z * x * (-1.66666666666666324348e-01 + z * r);
}

/// Returns cos(x) for |x| <= pi / 4 (FDLIBM, k_cos.c).
double small_cosine(double x) {
  const double z = x * x;
  const double r =
      4.16666666666666019037e-02 +
      z * (-1.38888888888741095749e-03 +
           z * (2.48015872894767294178e-05 +
                z * (-2.75573143513906633035e-07 +
                     z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))));
  const double half = 0.5 * z;
  const double first = 1 - half;
  return first + ((1 - first - half) + z * z * r);
}

}  // namespace

namespace elementary {

// In vectors of the narrowest target, which every machine has.
double exp(double x) { return HWY_NAMESPACE::exp_of_one(x); }
double log(double x) { return HWY_NAMESPACE::log_of_one(x); }

double power(double x, double y) {
  if (y == 0 || y == 1) {
    return y == 0 ? 1 : x;
  }
  if (x == 0) {
    return y > 0 ? 0 : std::numeric_limits<double>::infinity();
  }
  const TwoPart of_x = precise_log(x);
  const double product = y * of_x.high;
  const double whole = elementary::exp(product);
  if (whole == 0 || !std::isfinite(whole)) {
    return whole;
  }
  const double rest = std::fma(y, of_x.high, -product) + y * of_x.low;
  return whole + whole * rest;
}

Turned turned(double turns) {
  const double quarters = 4 * (turns - std::nearbyint(turns));
  const double whole = std::floor(quarters + 0.5);
  const double angle = (quarters - whole) * (std::numbers::pi / 2);
  const double sine = small_sine(angle);
  const double cosine = small_cosine(angle);
  switch (static_cast<int>(whole - 4 * std::floor(whole / 4))) {
    case 1:
      return {.cosine = -sine, .sine = cosine};
    case 2:
      return {.cosine = -cosine, .sine = -sine};
    case 3:
      return {.cosine = sine, .sine = -cosine};
    default:
      return {.cosine = cosine, .sine = sine};
  }
}

}  // namespace elementary

}  // namespace residuum
#endif
