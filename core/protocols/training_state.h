#pragma once
// A TrainingState is a training between two versions of its model: the model w_t, the workers of
// this process with their memories, and what the measurement follows. An Iteration (iteration.h)
// makes the next version of it. A version is one update of the model; t counts them.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/measurement/evaluations.h"
#include "core/measurement/measurement.h"
#include "core/measurement/step_view.h"
#include "core/training/device_model.h"
#include "core/training/divergence.h"
#include "core/training/model_shift.h"
#include "core/training/model_update.h"
#include "core/training/training.h"
#include "core/training/worker.h"

namespace residuum {

/// A StepEnd says how an iteration ends; the processes agree on it once per iteration. Ends are
/// ordered by priority: the first of those that the processes demand holds for all.
struct StepEnd {
  enum class Reason : std::uint8_t {
    lost_model,     // the model has an entry that is not usable; other findings follow from it
    broken_worker,  // a gradient or an accumulator is not finite
    bad_loss,       // the loss that was evaluated is not finite, or above its bound
    stop,           // a signal asks to stop after this iteration
    spent,          // the versions so far have spent the budget of the run
    save,           // a checkpoint is due after it
    none,           // the run goes on
  };

  Reason reason = Reason::none;
  int worker = 0;  // the broken one, 0 for other reasons
  /// False if a run that is not in lockstep was halted before the version was made.
  bool made = true;

  /// True if the iteration cannot be done.
  bool diverged() const { return reason < Reason::stop; }
  bool operator<(const StepEnd& other) const {
    return reason != other.reason ? reason < other.reason : worker < other.worker;
  }
};

/// Returns the first, in order, of the ends that the processes demand. The call is collective.
StepEnd agree(World& world, const StepEnd& mine);

template <class Real>
class Iteration;

template <class Real>
class TrainingState {
 public:
  /// The state before the first iteration; the observer is shown every measured one.
  TrainingState(const Training& training, StepObserver& observer);

  const Training& training() const { return training_; }
  const Cluster& cluster() const { return cluster_; }
  const Aggregator& aggregator() const { return *method_.aggregator; }
  /// Returns the workers that take part in the version in the making.
  const Participants& participants() const { return participants_; }

  /// Returns a worker of this process.
  Worker<Real>& worker(int number) { return workers_[cluster_.slot(number)]; }
  /// Returns the workers of this process, in worker order.
  std::span<Worker<Real>> workers() { return workers_; }
  std::span<const Worker<Real>> workers() const { return workers_; }
  /// Returns the buffers that the workers of this process use in turn.
  ScratchBuffers<Real>& scratch() { return scratch_; }
  /// Calls select(), in which workers of this process compress their accumulators. An Error of a
  /// sparsifier that can fail is thrown by all processes. Collective for such a sparsifier.
  template <class Select>
  void select_together(const Select& select) {
    if (method_.sparsifier->can_fail()) {
      together(cluster_.world(), select);
    } else {
      select();
    }
  }

  /// Returns w_t as gradients are computed from it, d numbers: rounded, or the shift of it that
  /// workers know.
  const std::vector<Real>& working_model() const { return working_model_; }
  /// Returns it with its copy on a device, where gradients are taken there.
  ModelAt<Real> placed_model() { return {working_model_, device_model_.get()}; }
  /// True if w has an entry that is not usable; the next version then ends the run.
  bool model_is_lost() const { return model_is_lost_; }
  /// Returns eta_t of a version that is made after `gradients` gradients.
  double step_size_at(std::uint64_t t, std::uint64_t gradients) const;
  /// Returns what an exchange knows of the run without any message, by which it is saved and
  /// loaded.
  Contributions<Real> without_messages() const;

  /// Returns the end that this process demands: what `seen`, the model or its loss demands, or a
  /// request to stop or save.
  StepEnd own_end(const StepEnd& seen) const;
  /// Returns the end that the first worker here demands whose gradient or accumulator is not
  /// finite.
  StepEnd end_at_workers() const;

  /// Returns the end of a run whose budget is spent, if it is, before another version is made; the
  /// root knows what is spent. Collective where the budget is open.
  std::optional<StepEnd> end_if_spent(const SpentSoFar& spent) const;

  const ProtocolLaw& law() const { return law_; }
  /// Returns what all workers have sent so far. Collective.
  RunTotals sent_by_all() const;

  /// Copies w_t from the root to all processes, which need it to evaluate f. Collective.
  void share_model();
  /// Returns the number of iterates in the running average, which begins anew when a run is
  /// resumed.
  std::uint64_t& averaged() { return averaged_; }
  /// Saves or loads the state that the next version needs.
  void save_or_load(RunState& state);

  /// Evaluates f at the last model, with results on the root, and returns how the run is to end.
  /// Collective.
  StepEnd look_at_the_end(std::optional<Evaluation>& evaluation, std::optional<TestResult>& test);
  /// Returns f at w_t of the last measured version, on the root, if it was evaluated.
  const std::optional<Evaluation>& evaluation() const { return evaluations_.view().at_model; }
  /// Returns what diverged; the process that has found it tells the others. Collective.
  Divergence divergence(const StepEnd& end, const std::optional<Evaluation>& evaluation) const;

 private:
  friend class Iteration<Real>;

  /// Notes for the model on a device which entries the exchanged has moved, or that any may have.
  void note_moved(const ExchangeResult<Real>& exchanged);
  void note_moved_anywhere();
  double epoch_after(std::uint64_t gradients) const;
  const std::vector<Real>& rounded_model() const {
    return shift_ ? shift_->rounded() : working_model_;
  }
  std::optional<TestResult> tested(std::span<const double> statistics) const;
  StepEnd end_at_point(const std::optional<Evaluation>& evaluation) const;

  const Training& training_;
  const Method& method_;
  const Objective& objective_;
  const Cluster& cluster_;
  StepObserver& observer_;
  ProtocolLaw law_;  // of the run
  std::size_t d_;

  std::vector<double> model_;        // w
  std::vector<Real> working_model_;  // w rounded, or its shift, as gradients are computed from it
  std::unique_ptr<DeviceModel> device_model_;  // a copy of that, where gradients are taken there
  std::optional<ModelShift<Real>> shift_;      // where a server sends compressed changes of w
  bool model_is_lost_ = false;                 // the model has an entry that is not usable
  std::optional<LostSum> lost_sum_;            // by which it was lost, if it was by that
  ModelUpdate<Real> update_;
  ScratchBuffers<Real> scratch_;
  std::vector<Worker<Real>> workers_;  // of this process
  Participants participants_;
  std::vector<Contribution<Real>> contributions_;  // of those here that take part
  std::vector<MatrixPlace> layers_;                // of the model
  Measurement<Real> measurement_;
  Evaluations evaluations_;
  std::uint64_t averaged_ = 0;
};

}  // namespace residuum
