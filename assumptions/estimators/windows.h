#pragma once
// Averages over equal windows of a run's iterations: the constants that theorems ask to hold at
// every iteration (M^2, G^2, q) are the largest window means, not the largest single draws, which
// are biased upwards. Windows of several seeds add up. A negative mean (an unbiased estimate of a
// variance may be negative) stays as it is. Memory: two numbers and a count per window.

#include <cstdint>
#include <optional>
#include <vector>

namespace residuum {

class Windows {
 public:
  static constexpr std::size_t kWindows = 64;

  /// `iterations`: of the whole run, so that windows of several seeds are the same.
  explicit Windows(std::uint64_t iterations, std::size_t windows = kWindows);

  /// A value of one iteration; its weight 1, so that sums / weights is the mean of the window.
  void add(std::uint64_t iteration, double value) { add_ratio(iteration, value, 1); }
  /// A pair of a pooled ratio: sum of numerators / sum of denominators over the window.
  void add_ratio(std::uint64_t iteration, double numerator, double denominator);

  /// Adds the windows of another seed of a run of the same length.
  void merge(const Windows& other);

  /// Mean or ratio of window i; absent where nothing was added or the denominators are zero.
  std::optional<double> window(std::size_t i) const;
  std::size_t size() const { return windows_.size(); }

  /// The largest over the windows: M^2 from |mean G|^2, G^2 from |G^p|^2, q from pooled ratios.
  std::optional<double> largest() const;
  /// Mean or ratio over everything.
  std::optional<double> overall() const;
  /// How many values entered.
  std::uint64_t count() const;

 private:
  struct Sums {
    double numerator = 0;
    double denominator = 0;
    std::uint64_t count = 0;
  };

  std::uint64_t iterations_;
  std::vector<Sums> windows_;
};

}  // namespace residuum
