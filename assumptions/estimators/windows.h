#pragma once
// Windows averages over equal windows of a run's iterations, because the constants that theorems
// ask to hold at every iteration (M^2, G^2, sigma^2) are the largest window means, not the largest
// single draws, which are biased upwards. A measured row counts for the iterations it stands for,
// so that the cadence of the rows does not weigh on a mean. Windows of several seeds add up. A
// negative mean (an unbiased estimate of a variance may be negative) stays as it is. Memory: four
// numbers per window.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace residuum {

class Windows {
 public:
  static constexpr std::size_t kWindows = 64;

  /// `iterations` is the length of the whole run, so that windows of several seeds are the same.
  explicit Windows(std::uint64_t iterations, std::size_t windows = kWindows);

  /// Counts one row for each iteration in [begin, end): the means are sums of `numerator` over sums
  /// of `denominator`. A value that is no ratio has the denominator 1. Iterations beyond the run
  /// are left out. O(windows that the stretch touches).
  void add(std::uint64_t begin, std::uint64_t end, double numerator, double denominator = 1);

  /// Adds the windows of another seed of a run of the same length.
  void merge(const Windows& other);

  /// Means or ratios of the four quarters of the run, each of as many windows, one more or less if
  /// they are not a multiple of four; absent if there are fewer than four windows or a quarter has
  /// no ratio.
  std::optional<std::array<double, 4>> quarters() const;
  /// Mean or ratio of window i; absent where nothing was added or all is 0, infinite for n/0.
  std::optional<double> window(std::size_t i) const;
  std::size_t size() const { return windows_.size(); }

  /// The largest over the windows: M^2 from |mean G|^2, G^2 from |G^p|^2.
  std::optional<double> largest() const;
  /// The largest over the runs' beginnings, which end where a window ends. A bound on sums over t <
  /// T that has to hold at every T needs this one.
  std::optional<double> largest_beginning() const;
  /// Mean or ratio over everything.
  std::optional<double> overall() const;
  /// How many rows entered.
  std::uint64_t count() const;

 private:
  struct Sums {
    double numerator = 0;
    double denominator = 0;
    std::uint64_t iterations = 0;
    std::uint64_t rows = 0;

    void add(const Sums& other);
    std::optional<double> ratio() const;
  };

  std::size_t window_of(std::uint64_t iteration) const;

  std::uint64_t iterations_;
  std::vector<Sums> windows_;
};

}  // namespace residuum
