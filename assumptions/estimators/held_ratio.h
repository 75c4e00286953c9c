#pragma once
// HeldRatio pools a quantity that is measured only at some iterations of a run. A row counts for
// the iterations until the next row: the pooled ratio is
//   R = sum n_i num_i / sum n_i den_i,  n_i = t_{i+1} - t_i,
// and the error from the iterations between the rows is estimated from the rows.

#include <cstdint>
#include <optional>
#include <vector>

#include "assumptions/estimators/windows.h"

namespace residuum {

class HeldRatio {
 public:
  /// `iterations` is the length of the whole run; the last row stands for those up to its end.
  explicit HeldRatio(std::uint64_t iterations) : windows_(iterations), end_(iterations) {}

  /// Takes the next row; iterations must rise. A value that is no ratio has the denominator 1.
  void look(std::uint64_t iteration, double numerator, double denominator = 1);
  /// Notes that the run ended after `iterations`.
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
