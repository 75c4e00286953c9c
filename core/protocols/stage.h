#pragma once
// What a protocol makes its versions of the model with: the workers of this process, the model, and
// whoever looks at both. A version is one update of the model; t counts them, and w_t is what the
// version after it is made of. Every member is collective over the processes of the cluster.

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/measurement/landscape.h"
#include "core/measurement/measurement.h"
#include "core/measurement/step_observer.h"
#include "core/protocols/step_end.h"
#include "core/training/divergence.h"
#include "core/training/model_update.h"
#include "core/training/training.h"
#include "core/training/worker_gradients.h"
#include "core/training/worker_messages.h"

namespace residuum {

template <class Real>
class Stage {
 public:
  Stage(const Training& training, StepObserver& observer);

  const Cluster& cluster() const { return cluster_; }
  const Aggregator& aggregator() const { return *method_.aggregator; }

  // One version, in this order; nothing is to be called after `form` says that the run diverged.

  /// Looks at f where somebody wants it.
  void begin(std::uint64_t t);
  /// G^p of every worker's next batch at w_t.
  void compute();
  /// a^p = e^p + c G^p and s^p = C(a^p); how the version is to end, as the processes agree on it.
  StepEnd form();
  Contributions<Real> contributions() const;
  /// w_{t+1} from g.
  void update(const Delivery<Real>& delivery);
  /// e^p_{t+1} from the fate of each message; then shows the version to whoever looks.
  void settle(const Delivery<Real>& delivery);

  // Between two versions.

  /// All that the next version needs of those before it.
  void visit(RunState& state);
  /// f at the model, on the root, and how the run is to end for it.
  StepEnd look_at_the_end(std::optional<Evaluation>& evaluation, std::optional<TestResult>& test);

  /// f as the version that has just been tried saw it; on the root, where it was evaluated.
  const std::optional<Evaluation>& evaluation() const { return landscape_.evaluation(); }
  /// What diverged, as the process that has seen it tells the others.
  Divergence divergence(const StepEnd& end, const std::optional<Evaluation>& evaluation) const;

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t slots() const { return static_cast<std::size_t>(cluster_.count()); }
  double epoch(std::uint64_t t) const;
  StepState<Real> state(const Delivery<Real>& delivery);
  std::optional<TestResult> tested(std::span<const double> statistics) const;
  StepEnd end_at_point(const std::optional<Evaluation>& evaluation) const;
  StepEnd end_at_workers() const;
  StepEnd own_end() const;
  double lap();

  const Training& training_;
  const Method& method_;
  const Objective& objective_;
  const Cluster& cluster_;
  StepObserver& observer_;
  std::size_t d_;

  std::vector<double> model_;        // w
  std::vector<Real> working_model_;  // w as the gradients see it
  bool model_is_lost_ = false;       // it has an entry that is not usable
  ModelUpdate<Real> update_;
  WorkerGradients<Real> gradients_;
  WorkerMessages<Real> messages_;
  std::vector<WorkerScalars> scalars_;
  Measurement<Real> measurement_;
  Landscape landscape_;

  // Of the version in the making.
  std::uint64_t t_ = 0;
  double eta_ = 0;
  double update_scale_ = 1;
  bool measured_ = false;
  bool split_ = false;
  std::optional<TestResult> test_;
  StepTimes times_;
  Clock::time_point mark_;
};

}  // namespace residuum
