#pragma once
// Measurement computes what only probes need: the virtual dense iterate z, means over workers,
// gathered lists. It reads the run and never changes it.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement/landscape.h"
#include "core/measurement/step_observer.h"
#include "core/measurement/unperturbed.h"
#include "core/training/training.h"

namespace residuum {

/// State handed to the measurement before and after the update.
template <class Real>
struct StepState {
  std::uint64_t iteration = 0;
  double epoch = 0;
  double step_size = 0;
  std::size_t k = 0;
  double update_scale = 1;                            // the factor of clipping
  std::span<const std::vector<Real>> gradients;       // G^p of this process's workers
  std::span<const std::vector<Real>> half_gradients;  // gradients of the first halves, or empty
  double first_half = 0.5;                            // the fraction of a batch
  std::span<const std::vector<Real>> memories;        // first d: a^p, or e^p after the settlement
  std::span<const Message<Real>> messages;
  std::span<const Settlement<Real>> settlements;
  const Delivery<Real>* delivery = nullptr;
  std::span<const double> model;     // w_t before the update, w_{t+1} after it
  std::span<WorkerScalars> scalars;  // one per worker of this process
};

template <class Real>
class Measurement {
 public:
  Measurement(const Training& training, std::span<const double> initial_point);

  // Both functions are called in every iteration and are collective. `before_update` reads
  // gradients and accumulators, `after_update` the settled residuals and the new model.
  void before_update(const StepState<Real>& state, bool measured);
  void after_update(const StepState<Real>& state, bool measured);

  /// Shows a measured iteration to the observer.
  void show(const StepState<Real>& state,
            const Landscape& landscape,
            const std::optional<TestResult>& test,
            StepTimes times,
            StepObserver& observer);

  void visit(RunState& state);

  /// Returns z on the root: z_t before the call of `before_update`, z_{t+1} after it.
  std::span<const double> virtual_iterate() const { return z_; }
  std::span<const double> mean_gradient() const { return mean_gradient_; }
  /// Returns u likewise; empty where it is not followed.
  std::span<const double> unperturbed_iterate() const { return unperturbed_.iterate(); }

 private:
  using Vectors = std::span<const std::vector<Real>>;
  /// Takes the mean of the d numbers from `first` on; only the root keeps it.
  void mean_of(Vectors vectors, std::vector<double>& mean, std::size_t first = 0);
  static void mean_here(Vectors vectors, std::vector<double>& mean, std::size_t first);
  void move_virtual_iterate(const StepState<Real>& state);
  void add_to_sums(double step_size);
  void note_decay(std::span<const double> model);
  void move_expected_gap(const StepState<Real>& state);
  void gather(const StepState<Real>& state);
  void gather_lists(const StepState<Real>& state);
  void fill_scalars(const StepState<Real>& state, StepView& view) const;

  const Training& training_;
  bool is_root_;
  bool in_gradient_units_;
  bool gap_is_mean_residual_;  // no momentum, no clipped updates, step units: w - z = mean residual

  std::vector<double> passing_;     // room for sums on the processes that do not keep them
  std::vector<double> mean_input_;  // the mean of what entered the memories, if not the gradients
  std::vector<double> mean_gradient_, mean_accumulator_, mean_residual_, previous_residual_;
  std::vector<double> mean_half_gradient_;
  RunningSums sums_, sums_before_;
  UnperturbedIterate unperturbed_;
  std::optional<DecayTerms> decay_terms_;
  std::optional<double> distance_sq_;  // |w_t - x*|^2
  std::vector<double> z_, z_velocity_;
  std::vector<double> expected_gap_, gap_velocity_;
  double gap_before_norm_ = 0;
  double virtual_step_norm_ = 0;
  double compensated_gap_norm_sq_ = 0;
  std::uint64_t last_measured_ = ~std::uint64_t{0} - 1;

  std::vector<WorkerScalars> worker_scalars_;
  std::vector<SparseVector<double>> sent_, cleared_, returned_;
  bool sent_everything_ = false;
  bool cleared_everything_ = false;
  SparseVector<double> update_;
  std::vector<double> dense_update_;
};

}  // namespace residuum
