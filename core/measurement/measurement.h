#pragma once
// Measurement computes what only probes need: the virtual dense iterate z, means over workers,
// gathered lists. It reads the run and never changes it.

#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "core/measurement/evaluations.h"
#include "core/measurement/gathering.h"
#include "core/measurement/iterates.h"
#include "core/measurement/late_measurement.h"
#include "core/measurement/step_view.h"
#include "core/messages/laws.h"
#include "core/training/worker.h"

namespace residuum {

/// State handed to the measurement before and after the update.
template <class Real>
struct StepState {
  std::uint64_t iteration = 0;
  double epoch = 0;
  double step_size = 0;
  std::size_t k = 0;
  double update_scale = 1;  // the factor of clipping
  bool split = false;       // batches were split: gradients have halves
  bool steps_locally = false;
  std::span<const Worker<Real>> workers;  // of this process
  const Participants& participants;       // of all workers, those that take part
  const ExchangeResult<Real>& exchanged;
  NetworkView network;
  std::span<const double> model;  // w_t before the update, w_{t+1} after it
  std::optional<ShiftGap> shift;  // of the last message, where a server sends changes of w
};

/// The parts of an iteration that are shown beside its measurement.
struct ShownBeside {
  const EvaluationsView& evaluations;
  const std::optional<TestResult>& test;
  StepTimes times;
};

template <class Real>
class Measurement {
 public:
  Measurement(const Training& training,
              const ProtocolLaw& law,
              std::span<const double> initial_point);

  // Every iteration calls `before_update`, which reads gradients and accumulators, and then
  // `after_update`, which reads the updated residuals and the new model. Both are collective.
  // `show` hands a measured iteration to the observer. The protocol decides which of the overloads
  // are called, in all iterations of a run.

  // A version that was made in lockstep.
  void before_update(const StepState<Real>& state, bool measured);
  void after_update(const StepState<Real>& state, bool measured);
  void show(const StepState<Real>& state, const ShownBeside& beside, StepObserver& observer);

  // A version that was made of late messages. In real execution only messages are known: what needs
  // gradients or accumulators is not measured.
  void before_update(const StepState<Real>& state, const VersionParts<Real>& parts, bool measured);
  void after_update(const StepState<Real>& state, const VersionParts<Real>& parts, bool measured);
  void show(const StepState<Real>& state,
            const VersionParts<Real>& parts,
            const ShownBeside& beside,
            StepObserver& observer);

  // A version of workers that have models of their own; `before_update` is that of lockstep.
  void after_update(const StepState<Real>& state, const VersionNotes& notes, bool measured);
  void show(const StepState<Real>& state,
            const VersionNotes& notes,
            const ShownBeside& beside,
            StepObserver& observer);

  void save_or_load(RunState& state);

  /// Returns z on the root: z_t before the call of `before_update`, z_{t+1} after it.
  std::span<const double> virtual_iterate() const { return virtual_.iterate(); }
  std::span<const double> mean_gradient() const { return mean_gradient_; }
  /// Returns u at the same times; empty where it is not followed.
  std::span<const double> unperturbed_iterate() const { return unperturbed_.iterate(); }

 private:
  void take_means(const StepState<Real>& state, bool measured);
  template <class VectorOf>
  void take_mean(const StepState<Real>& state,
                 const VectorOf& vector_of,
                 std::vector<double>& mean);
  void take_waiting(const StepState<Real>& state);
  bool keeps_absent_estimates(const StepState<Real>& state) const;
  void take_estimated(const StepState<Real>& state);
  void take_late_means(const StepState<Real>& state,
                       const VersionParts<Real>& parts,
                       bool measured);
  void move_iterates(const StepState<Real>& state, bool measured);
  void follow_residuals(const StepState<Real>& state, bool measured);
  VirtualIterate::Step virtual_step(const StepState<Real>& state) const;
  void note_decay(std::span<const double> model);
  void gather_scalars(const StepState<Real>& state);
  StepView view_of(const StepState<Real>& state,
                   const ShownBeside& beside,
                   double messages,
                   double entries);
  SelectionView selection_view(const StepState<Real>& state, double messages, double entries) const;
  ExchangeView exchange_view(const StepState<Real>& state) const;
  TrafficModel traffic_model(const StepState<Real>& state) const;
  IteratesView iterates_view(const StepState<Real>& state) const;
  void hand_over(const StepView& view, StepObserver& observer);
  double memory_step(const StepState<Real>& state) const {
    return in_gradient_units_ ? 1.0 : state.step_size;
  }

  const Training& training_;
  RunFacts facts_;  // of the run, which probes see
  bool is_root_;
  bool in_gradient_units_;
  bool late_;
  bool in_rounds_;  // late gradients enter in rounds, whose exchange has a cost model
  bool sees_messages_only_;
  bool have_own_models_;  // workers mix models: they exchange no gradients and remember none

  // Which means are taken: those of the plan and those that z or u is moved by.
  bool takes_gradient_ = true;
  bool takes_accumulator_ = true;
  bool takes_residual_ = true;

  std::vector<MatrixPlace> layers_;  // of the model
  MeanOverWorkers<Real> mean_;
  std::vector<double> mean_input_;  // the mean of what entered the memories, if not the gradients
  std::vector<double> mean_gradient_, mean_accumulator_, mean_residual_;
  std::vector<double> missed_;  // mean of what estimates miss, where some workers are absent
  std::vector<double> mean_half_gradient_;
  std::vector<double> mean_first_gradient_;  // at w_t, where workers step locally and u is followed
  std::vector<double> waiting_;  // what absent workers hold, over m; empty where there are none
  std::vector<double> expected_gap_;  // all residuals, over m; or empty
  std::vector<double> magnitudes_;    // shares of entries by bin, where they are due
  VirtualIterate virtual_;
  UnperturbedIterate unperturbed_;
  LateMeasurement<Real> late_measurement_;
  std::optional<DecayTerms> decay_terms_;
  std::optional<double> distance_sq_;  // |w_t - x*|^2
  std::uint64_t last_measured_ = ~std::uint64_t{0} - 1;

  std::vector<WorkerScalars> worker_scalars_;
  std::vector<WorkerScalars> contributed_;  // of the workers that take part, where not all do
  VersionLists<Real> lists_;
  SparseVector<double> update_;
  std::vector<double> dense_update_;
};

}  // namespace residuum
