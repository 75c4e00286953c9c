#pragma once
// The three classes of biased compressors of Beznosikov, Horvath, Richtarik, Safaryan (On Biased
// Compression for Distributed Learning), for pairs (x, C(x)):
//   B1(alpha, beta)  alpha |x|^2 <= |C|^2 <= beta <C, x>
//   B2(gamma, beta)  max(gamma |x|^2, |C|^2 / beta) <= <C, x>
//   B3(delta)        |C - x|^2 <= (1 - 1/delta) |x|^2, delta >= 1
// B3(delta) implies B2(1/(2 delta), 2) (expand the square), and B2(gamma, beta) implies
// B1(gamma^2, beta) (Cauchy-Schwarz). A mask has |C|^2 = <C, x>, hence beta = 1. For random C the
// classes are in expectation: the constants of single draws are stricter.

#include <optional>
#include <span>

namespace residuum {

/// The constants that one pair, or the worst of several, allows; infinite where none is allowed.
struct CompressorConstants {
  double alpha = 0;  // |C|^2 / |x|^2, the least
  double beta = 0;   // |C|^2 / <C, x>, the largest
  double gamma = 0;  // <C, x> / |x|^2, the least
  double delta = 1;  // 1 / (1 - |C - x|^2 / |x|^2), the largest
};

/// Computes the constants from |x|^2, |C|^2 and <C, x>. Absent for x = 0, which bounds nothing.
/// O(1).
std::optional<CompressorConstants> compressor_constants(double norm_sq,
                                                        double compressed_norm_sq,
                                                        double product);

/// Computes the constants from the vectors. O(d).
std::optional<CompressorConstants> compressor_constants(std::span<const double> x,
                                                        std::span<const double> compressed);

/// The constants that hold for both.
CompressorConstants worse(const CompressorConstants& a, const CompressorConstants& b);

}  // namespace residuum
