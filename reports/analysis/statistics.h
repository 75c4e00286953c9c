#pragma once
// These statistics sum up a handful of numbers, one per seed. An undefined value is absent, never a
// number.

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "assumptions/estimators/intervals.h"

namespace residuum::reports {

/// Returns the quantile of type 7 (Hyndman and Fan 1996; the default of R and NumPy): linear
/// between the order statistics at (n-1) p. Absent for no values or a NaN among them.
std::optional<double> quantile(std::vector<double> values, double p);

std::optional<double> median(const std::vector<double>& values);
std::optional<double> mean(const std::vector<double>& values);

/// True if the values of all seeds are equal, so that nothing is random: they count as one run.
bool are_one_run(const std::vector<double>& values);

/// Returns Student's t interval for the mean. Absent for fewer than two values or one that is not
/// finite.
std::optional<Interval> student_interval(const std::vector<double>& values,
                                         double confidence = 0.95);

/// Returns about how many seeds would decide which of two methods is ahead, from their differences
/// so far: the least n at which Student's 95 % interval of the mean excludes zero in four of five
/// repetitions, provided that mean m and deviation s stay as they are. With d = |m| / s it is
/// (z(0.975) + z(0.8))^2 / d^2 + z(0.975)^2 / 2, rounded up (Guenther, The American Statistician
/// 35(4), 1981). Of another confidence c, z(0.975) is z((1 + c) / 2). Absent for fewer than two
/// differences, for one that is not finite and for m = 0.
std::optional<double> seeds_for_sign(const std::vector<double>& differences,
                                     double confidence = 0.95);

/// A Spread has the statistics, in tables and figures, of one quantity over the seeds.
struct Spread {
  std::size_t n = 0;
  std::optional<double> median;
  std::optional<double> lower_quartile;
  std::optional<double> upper_quartile;
  std::optional<double> mean;
  std::optional<Interval> interval;  // 95 %, of the mean, by Student
  std::vector<double> values = {};
};

Spread spread_of(const std::vector<double>& values);

/// An IntervalKind says what the middle of the seeds is and what stands beside it: the median with
/// its quartiles, or the mean with a 95 % interval by Student or by the bootstrap.
enum class IntervalKind { quartiles, student, bootstrap };

struct Centre {
  std::size_t n = 0;
  std::optional<double> middle;
  std::optional<Interval> interval;  // absent for one seed
};

Centre centre_of(const std::vector<double>& values, IntervalKind kind);

/// Returns the centre of values in which a miss is infinite. The mean of any miss is infinite and
/// has no interval.
Centre centre_with_misses(const std::vector<double>& values, IntervalKind kind);

/// Returns "median, IQR" or, say, "mean, 95 % interval (Student)".
std::string_view interval_words(IntervalKind kind);

/// Returns the 95 % interval of the mean that the kind has: by Student where it has quartiles,
/// which are no such interval.
std::optional<Interval> interval_of_mean(const std::vector<double>& values, IntervalKind kind);

// The bootstrap draws values from those that were seen, with replacement; quantiles of the means of
// such resamples are the interval. Which ones, the BCa method says (Efron 1987; Davison and Hinkley
// 1997, section 5.3): it corrects for the bias and for the skewness of the mean, by which plain
// percentiles miss to one side. It needs no normal law, and many values.

/// Resampling cannot leave the range of the values, which holds the middle of their law with chance
/// 1 - 2^(1-n): an interval of fewer values would claim too much. 6 for 95 %.
std::size_t least_bootstrap_values(double confidence = kConfidence);

/// Returns the interval for the mean. All n^n resamples count up to n = 7; for more values it takes
/// 1999 resamples, always the same for one n. Absent for fewer values than the least, or one that
/// is not finite.
std::optional<Interval> bootstrap_interval(const std::vector<double>& values,
                                           double confidence = kConfidence);

}  // namespace residuum::reports
