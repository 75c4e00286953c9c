#pragma once
// A run shows which pairs (A, B) its compressor with memory may have (3PC: Richtarik, Sokolov,
// Gasanov, Fatkhullin, Li, Gorbunov, ICML 2022): the distortion G_t of its gradient estimates obeys
//   G_{t+1} <= (1 - A) G_t + B D_{t+1},  D_{t+1} = mean over workers of |G^p_{t+1} - G^p_t|^2,
// in every pair of successive iterations that was looked at. For each A of a grid, the least B that
// no pair of iterations refutes is kept; a larger A, which forgets faster, needs a larger B. Rows
// that do not follow one another are not compared. Memory: one number for each A.

#include <array>
#include <cstdint>
#include <vector>

namespace residuum {

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
