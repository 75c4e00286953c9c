#pragma once
// These functions bound how far error feedback lets the gap e = w - z grow. If E|e_{t+1}|^2 <= q
// E|e_t + eta_t g_t|^2 and E|g_t|^2 <= M^2 then, by Minkowski, E|e_t|^2 <= Q(q) eta^2 M^2. All are
// O(1).

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace residuum {

/// Q(q) = q / (1 - sqrt q)^2, 0 <= q < 1; infinite for q >= 1.
double amplification(double contraction);

/// Q(q) never exceeds 4 c (c - 1), c = 1/(1-q), for Q = q (1 + sqrt q)^2 / (1-q)^2 and sqrt q <= 1.
/// Karimireddy et al. write it 4 (1-delta)/delta^2.
double amplification_ceiling(double compression);

/// c^3 - c: the factor of Shi et al. (IJCAI 2019), which comes from Young's inequality with the
/// constant 1/c in place of the best one. It is (c + 1)/4 times the ceiling above.
double ijcai_amplification(double compression);

/// R_{t+1} = sqrt(q_t) (R_t + eta_t), R_0 = 0: sqrt(E|e_t|^2) <= M R_t. D_t = R_{t+1}/eta_t must
/// stay bounded for decreasing steps; it jumps tenfold where a step size is divided by ten.
class GapRecursion {
 public:
  /// One step with contraction q_t and step size eta_t.
  void step(double contraction, double step_size);
  double bound() const { return bound_; }           // R_{t+1}
  double memory_factor() const { return factor_; }  // D_t

 private:
  double bound_ = 0;
  double factor_ = 0;
};

// The three classes of biased compressors of Beznosikov, Horvath, Richtarik, Safaryan (On Biased
// Compression for Distributed Learning), for pairs (x, C(x)):
//   B1(alpha, beta)  alpha |x|^2 <= |C|^2 <= beta <C, x>
//   B2(gamma, beta)  max(gamma |x|^2, |C|^2 / beta) <= <C, x>
//   B3(delta)        |C - x|^2 <= (1 - 1/delta) |x|^2, delta >= 1
// B3(delta) implies B2(1/(2 delta), 2) (expand the square), and B2(gamma, beta) implies
// B1(gamma^2, beta) (Cauchy-Schwarz). A mask has |C|^2 = <C, x>, hence beta = 1. For random C the
// classes are in expectation: the constants of single draws are stricter.

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

// A run shows which pairs (A, B) its compressor with memory may have (3PC: Richtarik, Sokolov,
// Gasanov, Fatkhullin, Li, Gorbunov, ICML 2022): the distortion G_t of its gradient estimates obeys
//   G_{t+1} <= (1 - A) G_t + B D_{t+1},  D_{t+1} = mean over workers of |G^p_{t+1} - G^p_t|^2,
// in every pair of successive iterations that was looked at. For each A of a grid, the least B that
// no pair of iterations refutes is kept; a larger A, which forgets faster, needs a larger B. Rows
// that do not follow one another are not compared. Memory: one number for each A.

class EstimateRecursion {
 public:
  struct Pair {
    double a = 0;  // A
    double b = 0;  // B
  };

  EstimateRecursion();

  /// Takes the next row; iterations must rise.
  void look(std::uint64_t iteration, double distortion, double change_sq);

  /// Adds what another run of the same method has shown.
  void merge(const EstimateRecursion& other);

  /// The pairs (A, B) by falling A, without those that some pair of iterations refutes for every B.
  /// Empty where nothing was compared.
  std::vector<Pair> pairs() const;
  /// The number of pairs of iterations that were compared.
  std::uint64_t compared() const { return compared_; }

 private:
  static constexpr std::size_t kGrid = 256;

  static double a(std::size_t i);

  std::array<double, kGrid> least_b_{};
  std::uint64_t compared_ = 0;
  bool has_before_ = false;
  std::uint64_t before_ = 0;  // iteration of the last row
  double distortion_ = 0;     // G_t at that iteration
};

}  // namespace residuum
