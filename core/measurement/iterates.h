#pragma once
// Two iterates that the root follows beside the model w, both driven by the gradients of the run's
// own models: the virtual dense iterate z and the unperturbed iterate u.

#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement/step_view.h"
#include "core/training/training.h"
#include "core/training/update_direction.h"

namespace residuum {

/// The virtual dense iterate z moves as the model would move if nothing were sparsified, with the
/// gradients of the run's own models. The proofs bound its gap w - z; if no gradient is ever lost,
/// the gap follows from the residuals alone, unless both move by signs or polar factors.
class VirtualIterate {
 public:
  /// The iterate exists on the root of a run whose plan follows it; elsewhere it is empty.
  VirtualIterate(const Training& training, bool late, std::span<const double> initial_point);

  /// A step has the values of one iteration by which z moves. All vectors have d numbers.
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

  void save_or_load(RunState& state);

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

/// The unperturbed iterate u is plain SGD on the mean gradients at the run's own models,
///   u_0 = w_0,  u_{t+1} = u_t - eta'_t (mean G_t + lambda' w_t),
/// for the certificate of any update rule (assumptions/theorems/certificate.cc), which depends on a
/// rule only through the distance of its models from u. Any eta' is valid. With eta'_t = eta_t
/// times the gain, by which one gradient moves the model in the end (1/(1 - m) for momentum m), w
/// stays near u: a heavy ball v_t = m v_{t-1} + x_t, w_{t+1} = w_t - v_t, in units of the step and
/// fed with x_t = eta_t (mean G_t + lambda w_t) + mean e_t - mean e_{t+1} (error feedback), has
///   w_t - u_t = (m v_{t-1} + mean e_t) / (1 - m),  v_{t-1} = w_{t-1} - w_t,
/// since w_t - m v_{t-1}/(1 - m) moves by -x_t/(1 - m) and the residuals telescope. In units of the
/// gradient (w_{t+1} = w_t - eta_t v_t, most training code) every change of the step adds
/// (eta_{t-1} - eta_t) (m v_{t-1} + mean e_t)/(1 - m) to that, and it stays. Clipping of updates
/// and the masking of velocities (dgc) are no part of u: what they take from w - u stays as well.
///
/// Workers that step locally take the gradients of their first steps alone at w_t, which all share:
/// the mean gradient is that of these, and eta' counts H steps. The other steps, along gradients
/// elsewhere or along an optimiser's directions, are a part of w - u.
///
/// Weight decay: lambda w_t passes only the momentum m after the exchange and moves the model by
/// eta_t lambda/(1 - m), while gradients also pass the momentum before it. Relative to gradients
/// the decay is lambda' = lambda over the gain of the feedback: the run minimises f +
/// (lambda'/2)|w|^2.
class UnperturbedIterate {
 public:
  /// The iterate exists on the root of a run that follows u; elsewhere it is empty.
  UnperturbedIterate(const Training& training,
                     std::uint64_t local_steps,
                     std::span<const double> initial_point);

  /// Returns whether the run follows u, on every process.
  bool is_followed() const { return is_followed_; }

  /// Moves u by the mean gradient at w_t, d numbers; does nothing where u is empty.
  void move(double step_size, std::span<const double> mean_gradient, std::span<const double> model);

  std::span<const double> iterate() const { return u_; }
  /// Returns the sums over the iterations before the last `move`: eta', eta'^2 |mean G + lambda'
  /// w|^2 and eta' |w - u|^2.
  const RunningSums& sums_before() const { return sums_before_; }

  void save_or_load(RunState& state);

 private:
  bool is_followed_;
  double gain_;   // eta' over eta
  double decay_;  // lambda'
  std::vector<double> u_;
  RunningSums sums_, sums_before_;
};

}  // namespace residuum
