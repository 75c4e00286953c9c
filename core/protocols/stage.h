#pragma once
// A stage gives a protocol what it needs to make versions of the model: the workers of this
// process, the model, and the measurements. A version is one update of the model; t counts them,
// and version t + 1 is made from w_t. Every member that makes a version is collective over the
// processes of the cluster.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/measurement/evaluations.h"
#include "core/measurement/measurement.h"
#include "core/measurement/step_observer.h"
#include "core/protocols/step_end.h"
#include "core/training/divergence.h"
#include "core/training/model_update.h"
#include "core/training/participants.h"
#include "core/training/training.h"
#include "core/training/worker.h"

namespace residuum {

template <class Real>
class Stage {
 public:
  Stage(const Training& training, StepObserver& observer);

  const Cluster& cluster() const { return cluster_; }
  const Aggregator& aggregator() const { return *method_.aggregator; }
  const Training& training() const { return training_; }

  // These calls make one version in lockstep, in this order; none may follow after `form` says that
  // the run diverged.

  /// Returns the workers that take part in the version.
  const Participants& participants() const { return participants_; }

  /// Begins a version: draws who takes part, sets eta_t, and evaluates f where the measurement plan
  /// asks for it. `gradients` is how many all versions before it had together.
  void begin(std::uint64_t t, std::uint64_t gradients);
  /// Computes G^p at w_t, on the next batch of every worker that takes part. If `local_steps` > 1,
  /// each worker takes that many SGD steps from w_t and G^p is the sum of its gradients.
  void compute(std::uint64_t local_steps);
  /// From now on compute() and form() take the seconds of each worker, if these are wanted.
  void time_workers(bool compute, bool select);
  const LocalSeconds& seconds() const { return seconds_; }
  /// Sets the virtual time that the version is shown with.
  void show_network(const NetworkView& network) { network_ = network; }
  /// Forms a^p = e^p + c G^p and s^p = C(a^p). Returns how the version is to end, as the processes
  /// agree on it.
  StepEnd form();
  /// Runs `select`, in which workers of this process form messages. An Error of a sparsifier that
  /// can fail is thrown by all processes. Collective for such a sparsifier.
  template <class Select>
  void select_in_step(const Select& select) {
    if (method_.sparsifier->can_fail()) {
      together(cluster_.world(), select);
    } else {
      select();
    }
  }
  Contributions<Real> contributions() const;
  /// Makes w_{t+1} from g.
  void update(const Delivery<Real>& delivery);
  /// Makes e^p_{t+1} from the outcome of each message, then shows the version to the observer.
  void update_residual(const Delivery<Real>& delivery);

  // A version that is made of late messages has `begin`, `agree`, `update` and `finish`; the loop
  // acts on the workers itself.

  /// Returns a worker of this process.
  Worker<Real>& worker(int number) { return workers_[cluster_.slot(number)]; }
  ScratchBuffers<Real>& scratch() { return scratch_; }
  /// Returns w_t, as gradients are computed from it, and eta_t.
  const std::vector<Real>& working_model() const { return working_model_; }
  double step_size() const { return eta_; }
  /// True if w has an entry that is not usable; the next version then ends the run.
  bool model_is_lost() const { return model_is_lost_; }
  /// True if the version in the making shows how noisy gradients are, by half batches.
  bool splits() const { return split_; }
  /// Returns how the version is to end, as the processes agree on it; `seen` is what the loop has
  /// found on this one.
  StepEnd agree(const StepEnd& seen);
  /// Makes w_{t+1} from g, which is the weighted sum of the late_messages.
  void update(const Delivery<Real>& delivery, const VersionParts<Real>& parts);
  /// Returns the end that this process demands: what `seen` or the stage has found, or a request to
  /// stop or save.
  StepEnd own_end(const StepEnd& seen) const;
  /// Returns eta_t of a version that will be made after so many gradients.
  double step_size_at(std::uint64_t t, std::uint64_t gradients) const;
  /// Copies w_t from the root to all processes, which need it to evaluate f. Collective.
  void share_model();
  /// Returns the number of iterates in the running average, which begins anew when a run is
  /// resumed.
  std::uint64_t& averaged() { return averaged_; }
  /// Reports the version to the observer. Call it last, unless `update_residual` was called.
  void finish(const Delivery<Real>& delivery);

  // A version of workers that have models of their own has `begin`, `agree`, `move_to` and
  // `finish`.

  /// Makes w_{t+1} the mean of the workers' models. `delivery` has the traffic and no update; the
  /// notes must live until the version is finished.
  void move_to(std::span<const double> mean,
               const Delivery<Real>& delivery,
               const VersionNotes& notes);

  // These calls stand between two versions.

  /// Saves or loads the state that carries over to the next version.
  void visit(RunState& state);
  /// Evaluates f at the last model, with results on the root, and returns how the run is to end.
  StepEnd look_at_the_end(std::optional<Evaluation>& evaluation, std::optional<TestResult>& test);

  /// Returns f at w_t of the current version, on the root, if it was evaluated.
  const std::optional<Evaluation>& evaluation() const { return evaluations_.view().at_model; }
  /// Returns what diverged; the process that has found it tells the others.
  Divergence divergence(const StepEnd& end, const std::optional<Evaluation>& evaluation) const;

 private:
  using Clock = std::chrono::steady_clock;

  void list_contributions();
  double epoch_after(std::uint64_t gradients) const;
  void book(const Delivery<Real>& delivery);
  void move(const Delivery<Real>& delivery);
  void look_before_move(const Delivery<Real>& delivery);
  void show(const Delivery<Real>& delivery);
  StepState<Real> state(const Delivery<Real>& delivery);
  std::optional<TestResult> tested(std::span<const double> statistics) const;
  StepEnd end_at_point(const std::optional<Evaluation>& evaluation) const;
  StepEnd end_at_workers() const;
  bool takes_part(const Worker<Real>& worker) const { return participants_.has(worker.number); }
  std::uint64_t turn_of(const Worker<Real>& worker) const {
    return participants_.are_all() ? t_ : worker.turns;
  }
  double lap();

  const Training& training_;
  const Method& method_;
  const Objective& objective_;
  const Cluster& cluster_;
  StepObserver& observer_;
  ProtocolLaw law_;  // of the run
  std::size_t d_;

  std::vector<double> model_;        // w
  std::vector<Real> working_model_;  // w rounded, as gradients are computed from it
  bool model_is_lost_ = false;       // the model has an entry that is not usable
  std::optional<LostSum> lost_sum_;  // by which it was lost, if it was by that
  ModelUpdate<Real> update_;
  ScratchBuffers<Real> scratch_;
  std::vector<Worker<Real>> workers_;  // of this process
  Participants participants_;
  std::vector<Contribution<Real>> contributions_;  // of those here that take part
  std::vector<MatrixPlace> layers_;                // of the model
  Measurement<Real> measurement_;
  Evaluations evaluations_;

  // State of the version in the making.
  std::uint64_t t_ = 0;
  std::uint64_t averaged_ = 0;
  double epoch_ = 0;
  double eta_ = 0;
  const VersionParts<Real>* parts_ = nullptr;  // where it is not made in lockstep
  const VersionNotes* notes_ = nullptr;        // where workers have models of their own
  double update_scale_ = 1;
  bool measured_ = false;
  bool split_ = false;
  std::optional<TestResult> test_;
  StepTimes times_;
  LocalSeconds seconds_;
  NetworkView network_;
  Clock::time_point mark_;
};

}  // namespace residuum
