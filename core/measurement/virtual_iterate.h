#pragma once
// The virtual dense iterate z moves as the model would move if nothing were sparsified, with the
// gradients of the run's own models. Its gap w - z is what the proofs bound; if no gradient is ever
// lost, the gap follows from the residuals alone, unless both move by signs or polar factors.

#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"
#include "core/training/update_direction.h"

namespace residuum {

class VirtualIterate {
 public:
  /// The iterate exists on the root of a run whose plan follows it; elsewhere it is empty.
  VirtualIterate(const Training& training, bool late, std::span<const double> initial_point);

  /// A step is what an iteration hands to z. All vectors have d numbers.
  struct Step {
    double size = 0;                        // eta_t
    double update_scale = 1;                // the factor of clipping
    std::span<const double> model;          // w_t
    std::span<const double> mean_gradient;  // of G^p_t
    std::span<const double> mean_input;     // of what entered the memories
  };
  void move(const Step& step);

  /// True if w - z is the mean residual where nothing is lost: no momentum, no clipped updates,
  /// step units, every worker in each version. With signs or polar factors of updates the expected
  /// gap, whatever it is, says nothing of w - z.
  bool gap_is_mean_residual() const { return gap_is_mean_residual_; }
  // One of these moves the gap that is expected if nothing was lost, in an iteration for which
  // `move` was called. It must be called in every iteration unless the gap is the mean residual.

  /// Takes the mean of e^p_{t+1}.
  void move_expected_gap(const Step& step, std::span<const double> mean_residual);
  /// Takes the mean of e^p_t - e^p_{t+1} over what the version is made of.
  void move_expected_gap_by(const Step& step, std::span<const double> fall);

  std::span<const double> iterate() const { return z_; }
  /// Fills in what the last `move` has found. The expected gap is empty where it is the mean
  /// residual.
  void fill(IteratesView& view) const;

  void visit(RunState& state);

 private:
  std::span<const double> direction(const Step& step);
  void push_velocity(const Step& step);
  void add_to_sums(const Step& step);

  const Method& method_;
  const Objective& objective_;
  bool in_gradient_units_;
  bool gap_is_mean_residual_;
  std::vector<double> z_, z_velocity_;
  std::vector<double> z_ahead_;  // Nesterov's direction in place of the velocity
  UpdateDirection rule_;
  std::vector<double> z_direction_;  // where it is not the update itself
  std::vector<double> previous_residual_, residual_fall_, expected_gap_, gap_velocity_;
  double gap_before_norm_ = 0;
  double virtual_step_norm_ = 0;
  double compensated_gap_norm_sq_ = 0;
  RunningSums sums_, sums_before_;
};

}  // namespace residuum
