#pragma once
// Evaluations evaluate f along a run: its value at the virtual iterate and at the average of the
// iterates, and estimates of its smoothness L from gradients at two points. Evaluations are
// expensive (each point is a pass over the data) and therefore have cadences of their own. They are
// collective.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"

namespace residuum {

/// Evaluates f at a point over all workers' shards; if `gradient` is not null, also grad f and its
/// squared norm. The results are on the root. The call is collective.
Evaluation evaluate(const Training& training, const Point& at, std::vector<double>* gradient);

/// Returns how many samples the power iteration for L takes: about `power_samples` of those that f
/// is the mean over, 0 without a data set. The curvature over fewer than all samples may exceed
/// that of f.
std::size_t curvature_samples(const Training& training);

/// Iterates are the points of an iteration at which f is evaluated. All but w_t are read on the
/// root alone.
struct Iterates {
  std::span<const double> model;            // w_t
  std::span<const double> virtual_iterate;  // z_t
  std::span<const double> unperturbed;      // u_t, where it is followed
};

class Evaluations {
 public:
  /// Between two exchanges every worker takes `local_steps` gradients.
  Evaluations(const Training& training, std::uint64_t local_steps);

  /// Evaluates f at w_t, z_t, u_t and the average, with gradients where the plan asks for them;
  /// called before the iterates move. Only the root has the results. A network's f is the loss with
  /// `statistics` (the workers' averages before this iteration) held fixed, one function for all
  /// points of an iteration. Its batches are normalised by statistics of their own, so that the
  /// mean of their gradients is near grad f, not equal to it.
  void evaluate_points(std::uint64_t t, const Iterates& at, std::vector<double> statistics);

  /// Evaluates f at z_{t+1}, after z has moved by -eta_t mean G_t, in an iteration for which
  /// `evaluate_points` was called.
  void evaluate_next_z(std::span<const double> next_z,
                       std::span<const double> mean_gradient,
                       double step_size);

  /// Adds w_t to the average, with the weight that the step rule gives it.
  void average(std::uint64_t t, std::span<const double> model);

  void save_or_load(RunState& state);

  /// Returns what the last `evaluate_points` has evaluated, on the root.
  const EvaluationsView& view() const { return view_; }

 private:
  std::vector<double> shared(std::span<const double> on_root) const;
  void evaluate_model(std::span<const double> model, bool due, bool compares);
  void evaluate_decayed(const Iterates& at);
  void compare_points(std::span<const double> model, std::span<const double> z);
  double dominant_curvature(std::uint64_t t, std::span<const double> model) const;

  const Training& training_;
  bool is_root_;
  bool follows_unperturbed_;
  std::vector<double> statistics_;
  EvaluationsView view_;

  std::vector<double> gradient_;          // grad f(w_t)
  std::vector<double> virtual_gradient_;  // grad f(z_t)
  bool has_gradient_ = false;             // the last `evaluate_points` evaluated grad f(w_t)
  double virtual_loss_ = 0;
  bool evaluated_z_ = false;
  std::vector<double> previous_model_, previous_gradient_;
  std::optional<double> secant_;

  std::vector<double> average_;
  double weight_sum_ = 0;
};

}  // namespace residuum
