#pragma once
// SeedEvidence gathers what one seed's run says to the theorems. It takes the rows one by one in
// bounded memory: running sums kept at about sixty iterations, means over windows, and extremes.

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "assumptions/estimators/compressor_constants.h"
#include "assumptions/estimators/held_ratio.h"
#include "core/record/record.h"

namespace residuum {

/// An average over iterations, each weighted by its step size, and how many of them were measured;
/// a measured one stands for those until the next.
struct Average {
  double value = 0;
  std::uint64_t measured = 0;
};

/// The certificate of any update rule is made of these sums, with u in the place of z; lambda is
/// the weight decay, eta' the step of u.
struct UnperturbedSums {
  std::optional<double> step_sum;      // sum eta'
  std::optional<double> noise_sum;     // sum eta'^2 |mean G + lambda w|^2
  std::optional<double> gap_sum;       // sum eta' |w - u|^2
  std::optional<double> initial_loss;  // f(w_0) + (lambda/2)|w_0|^2
  std::optional<double> loss;          // f(u_T) + (lambda/2)|u_T|^2
};

/// The state before iteration `iterations`: sums run over s < iterations. An unknown value is
/// absent.
struct Snapshot {
  std::uint64_t iterations = 0;             // T
  std::optional<double> step_sum;           // sum eta
  std::optional<double> step_sq_sum;        // sum eta^2; these two never below the true sums as
  std::optional<double> step_cube_sum;      // sum eta^3; long as step sizes do not increase
  std::optional<double> noise_sum;          // sum eta^2 |mean G|^2
  std::optional<double> gap_sum;            // sum eta |w - z|^2
  std::optional<double> consensus_sum;      // sum eta mean |w^p - mean w|^2
  std::optional<double> initial_loss;       // f(w_0) = f(z_0)
  std::optional<double> loss;               // f(w_T)
  std::optional<double> virtual_loss;       // f(z_T)
  std::optional<double> averaged_gap;       // f(weighted average of w_0..w_T) - f*
  std::optional<Average> gradient;          // |grad f(w)|^2
  std::optional<Average> split_gradient;    // the same by half batches
  std::optional<Average> decayed_gradient;  // |grad f(w) + lambda w|^2
  std::optional<Average> split_decayed_gradient;  // the same by half batches
  std::optional<Average> loss_gap;                // f(w) - f*
  std::optional<double> last_gap;                 // f(w_T) - f*
  UnperturbedSums unperturbed;
  double leak_share = 0;  // of the gap sum: what is not the mean residual
};

/// A quantity that is constant between two looks, integrated over the sum of step sizes.
class HeldAverage {
 public:
  void look(double step_sum, double value);
  std::optional<Average> until(double step_sum) const;

 private:
  std::optional<double> value_;
  double since_ = 0;
  double begin_ = 0;
  double integral_ = 0;
  std::uint64_t looks_ = 0;
};

/// The number, the extremes and the sum of the measured values of a quantity that every version
/// has.
struct Range {
  std::uint64_t measured = 0;
  double smallest = 0;
  double largest = 0;
  double sum = 0;

  void add(double value);
};

/// The sum of eta_t x_t over s < t, of an x that the row of the iteration before shows and that
/// begins with zero; it is known as long as every iteration left a row.
struct StepwiseSum {
  std::optional<double> sum = 0;
  double before = 0;  // x_t

  /// Adds iteration t, of which x_{t+1} is known or not.
  void advance(const std::optional<double>& step, const std::optional<double>& next);
};

/// Returns |mean a - g/P|^2 of a row that has delta. If delta is infinite, the mean residual gives
/// it; infinite if that is not known.
std::optional<double> lost_by_selection(const Row& row);

/// How far a positive quantity has come from the first row to the last whose value says more than
/// rounding, however many rows lie between.
struct LogFall {
  std::optional<double> start;  // logarithm of the first value
  double started_at = 0;        // iteration of it
  double change = 0;            // of the logarithm, to the last value
  double iterations = 0;        // between the two
};

/// SeedMeasures sums up what single iterations say over the run: pooled ratios and means in which a
/// row counts for the iterations it stands for, and extremes.
struct SeedMeasures {
  explicit SeedMeasures(std::uint64_t iterations);

  std::optional<double> initial_loss;                 // f(w_0)
  std::optional<double> initial_unperturbed_loss;     // f(u_0) + (lambda/2)|u_0|^2
  std::optional<double> initial_distortion;           // EF21's G_0
  std::optional<double> initial_residual;             // mean |e_1|^2
  std::optional<double> initial_weighted_distortion;  // the same by the workers' smoothness
  std::optional<double> initial_distance_sq;
  std::optional<double> largest_xi;
  std::optional<double> largest_step;

  HeldRatio mean_gradient;       // |mean G|^2
  HeldRatio worker_gradient;     // mean |G^p|^2
  HeldRatio true_gradient;       // |grad f|^2, evaluated or by half batches
  HeldRatio gradient_spread;     // mean |G^p - mean G|^2
  HeldRatio worker_true;         // mean |grad f_p|^2 = mean |G^p|^2 - sigma^2
  HeldRatio noise;               // sigma^2
  HeldRatio heterogeneity;       // zeta^2
  HeldRatio contraction;         // |e'|^2 over |e + eta mean G|^2
  HeldRatio worker_contraction;  // mean |e^p'|^2 over mean |a^p|^2
  HeldRatio worker_selection;    // mean |e^p'|^2 over (1 - rho) mean |a^p|^2
  HeldRatio selection;           // |mean a - g/P|^2 over (1 - rho) |mean a|^2
  HeldRatio gap;                 // |e'|^2
  HeldRatio half_bias;           // |mean G^1 - mean G^2|^2 of half batches over its expectation
  HeldRatio gradient_bias;       // <mean G - grad f, grad f> / |grad f|^2
  HeldRatio tail;                // |a - Top_k a|^2 / |a|^2 of the mean accumulator
  HeldRatio tail_selection;      // the same over (1 - rho)^2

  Singles single_selection;          // delta_t <= 1
  Singles single_contraction;        // q_t < 1
  Singles single_worker_selection;   // as worker_selection, of one iteration
  Singles single_tail;               // as tail_selection
  LargestSingles single_lyapunov;    // V_{t+1}/V_t
  std::uint64_t lyapunov_rows = 0;   // that have V
  std::uint64_t lyapunov_pairs = 0;  // rows that have V_{t+1}/V_t
  LogFall lyapunov_fall;             // of V over the run
  LargestSingles single_gap;         // |e'|^2
  LargestSingles single_difference;  // |grad f(x) - grad f(y)| / |x - y|
  LargestSingles single_curvature;   // largest |eigenvalue| by power iteration

  Range staleness;       // largest t - u of a version
  Range staleness_mean;  // mean of it over the version's gradients
  Range contributions;   // gradients in a version

  EstimateRecursion estimate_recursion;  // of EF21's distortion

  void add(const Row& row);
  /// Records that the run ended after `iterations`.
  void end_at(std::uint64_t iterations);

 private:
  void look_at_gradients(const Row& row);
  void look_at_contraction(const Row& row);
  void look_at_selection(const Row& row);
  void take_extremes(const Row& row);
  void look_at_versions(const Row& row);
  void look_at_lyapunov(const Row& row);
  void look_at_fall(const Row& row);
};

class SeedEvidence {
 public:
  /// `iterations` is the number that the longest run of all seeds had, so that the windows and the
  /// horizons of seeds are the same.
  explicit SeedEvidence(std::uint64_t iterations);

  /// Takes the next row; iterations must rise.
  void add(const Row& row);
  /// Records that the run finished after `iterations`: a budget of time or of gradients ends the
  /// seeds of one method after different numbers of them.
  void end_at(std::uint64_t iterations);
  /// Records that the run diverged after `iterations`, before its last one.
  void end_early(std::uint64_t iterations);

  /// The snapshots by their iterations. The longest is the last row's, because nobody saw the end
  /// of the last step.
  std::map<std::uint64_t, Snapshot> snapshots() const;
  const SeedMeasures& measures() const { return measures_; }
  bool ended_early() const { return ended_early_; }
  /// How many iterations the run had, and how many of them left a row.
  std::uint64_t iterations() const { return iterations_; }
  std::uint64_t rows() const { return rows_; }

 private:
  void advance(const Row& row);
  void advance_steps(const Row& before, const Row& row);
  void advance_sums(const Row& before, std::uint64_t passed);
  void look_at(const Row& row);
  void compare_gap(const Row& row);
  Snapshot snapshot(const Row& row) const;
  void keep(const Row& row);

  struct Horizons {
    std::size_t next = 0;
    bool reached(const std::vector<std::uint64_t>& horizons, std::uint64_t iteration);
  };

  SeedMeasures measures_;
  bool ended_early_ = false;
  std::uint64_t iterations_;
  std::uint64_t rows_ = 0;

  std::vector<std::uint64_t> horizons_;
  Horizons any_;
  Horizons evaluated_;
  std::map<std::uint64_t, Snapshot> kept_;
  std::optional<Snapshot> last_;
  std::optional<Snapshot> last_evaluated_;

  std::optional<Row> before_;  // the last row
  std::optional<double> step_sum_ = 0;
  std::optional<double> step_sq_sum_ = 0;
  std::optional<double> step_cube_sum_ = 0;
  std::optional<double> noise_sum_ = 0;  // while every iteration was measured
  StepwiseSum gap_;                      // of |e_t|^2
  StepwiseSum consensus_;                // of mean |w^p_t - mean w_t|^2
  double residual_total_ = 0;            // of the measured iterations
  double gap_total_ = 0;
  HeldAverage gradient_;
  HeldAverage split_gradient_;
  HeldAverage decayed_gradient_;
  HeldAverage split_decayed_gradient_;
  HeldAverage loss_gap_;
};

}  // namespace residuum
