#pragma once
// On quadratics every iterate is an affine function of the draws, so that its moments are exact.

#include <cstddef>
#include <vector>

namespace residuum::test {

/// An affine function of the draws: its mean, and its coefficients.
struct Affine {
  double mean = 0;
  std::vector<double> of_draws;

  void add(double factor, const Affine& other) {
    mean += factor * other.mean;
    for (std::size_t i = 0; i < other.of_draws.size(); ++i) {
      of_draws[i] += factor * other.of_draws[i];
    }
  }
  /// E of its square, for draws of this variance.
  double square(double variance) const {
    double sum = 0;
    for (const double one : of_draws) {
      sum += one * one;
    }
    return mean * mean + variance * sum;
  }
};

inline Affine zero_of(std::size_t draws) {
  return {.mean = 0, .of_draws = std::vector<double>(draws)};
}

}  // namespace residuum::test
