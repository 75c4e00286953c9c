#pragma once
// HeldRatio pools a quantity that is measured only at some iterations of a run. A row counts for
// the iterations until the next row: the pooled ratio is
//   R = sum n_i num_i / sum n_i den_i,  n_i = t_{i+1} - t_i,
// and the error from the iterations between the rows is estimated from the rows.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace residuum {

/// Windows averages over equal windows of a run's iterations, because the constants that theorems
/// ask to hold at every iteration (M^2, G^2, sigma^2) are the largest window means, not the largest
/// single draws, which are biased upwards. A measured row counts for the iterations it stands for,
/// so that the cadence of the rows does not weigh on a mean. Windows of several seeds add up. A
/// negative mean (an unbiased estimate of a variance may be negative) stays as it is. Memory: four
/// numbers per window.
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

class HeldRatio {
 public:
  /// `iterations` is the length of the whole run; the last row stands for those up to its end.
  explicit HeldRatio(std::uint64_t iterations) : windows_(iterations), end_(iterations) {}

  /// Takes the next row; iterations must rise. A value that is no ratio has the denominator 1.
  void look(std::uint64_t iteration, double numerator, double denominator = 1);
  /// Records that the run ended after `iterations`.
  void end_at(std::uint64_t iterations) { end_ = iterations; }

  /// The rows over windows of the run, the last one up to the end.
  Windows windows() const;
  /// R; absent without rows or where all sums are zero, infinite for n/0.
  std::optional<double> overall() const { return windows().overall(); }
  std::uint64_t rows() const { return rows_; }

  /// The error of R from having sampled: by how much R would fall if every row stood for the
  /// iterations before it and not after it (the trend between rows), and the standard error of R
  /// by successive differences of num_i - R den_i (Wolter, Introduction to Variance Estimation,
  /// section 8.2), each stretch a stratum of n_i iterations of which one was drawn. Both are 0
  /// where every iteration was measured; the trend is infinite where only one of several was.
  struct SamplingError {
    double trend = 0;
    double variance = 0;
  };
  SamplingError sampling_error() const;

 private:
  struct Pair {
    double numerator = 0;
    double denominator = 0;
  };

  Windows windows_;  // all rows but the last
  std::uint64_t end_;
  std::uint64_t rows_ = 0;
  std::uint64_t since_ = 0;  // iteration of the last row
  Pair last_;
  Pair backward_;  // sums in which a row stands for the iterations before it
  // Sums over stretches of n(n - 1)/2 times the squares and the product of the differences.
  double numerator_sq_ = 0;
  double product_ = 0;
  double denominator_sq_ = 0;
};

/// Singles sums up single iterations against a limit that is known when each is measured. A row
/// stands for the iterations until the next.
struct Singles {
  std::uint64_t measured = 0;
  std::uint64_t violations = 0;
  std::uint64_t stood_for = 0;        // iterations from the first row to the last
  std::uint64_t violating = 0;        // those of them whose row violates the limit
  std::optional<std::uint64_t> last;  // row; absent where rows are not followed
  bool last_violates = false;
  bool counts_all = true;         // false: there may be more violations
  std::optional<double> largest;  // NaN is larger than any number
  std::uint64_t where = 0;

  void add(std::uint64_t iteration, double value, bool violates);
  /// Lets the last row stand for the iterations up to the end of the run.
  Singles until(std::uint64_t end) const;
};

/// LargestSingles compares single iterations with a limit that is known only after the run. It
/// keeps the last value and the largest before it, so that the violations are counted exactly
/// below kKept and as "at least so many" from there on. A row stands for the iterations until the
/// next.
class LargestSingles {
 public:
  static constexpr std::size_t kKept = 1000;

  void add(std::uint64_t iteration, double value);
  Singles above(double limit) const;
  std::optional<double> largest() const;

 private:
  struct Seen {
    double value = 0;
    std::uint64_t iteration = 0;
    std::uint64_t stands_for = 0;
  };
  static bool is_larger(const Seen& a, const Seen& b);

  void keep(const Seen& seen);

  std::uint64_t measured_ = 0;
  std::uint64_t stood_for_ = 0;
  std::vector<Seen> kept_;  // a heap, its smallest in front
  std::optional<Seen> last_;
};

}  // namespace residuum
