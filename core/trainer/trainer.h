#pragma once
// Bulk-synchronous distributed SGD with sparsified gradients and error feedback, over logical
// workers. In the letters of the papers, at iteration t, for every worker p:
//   a^p = e^p + eta G^p(w);  s^p = C(a^p);  g = AGG(s^1 .. s^P);  w -= g / P;  e^p = a^p -
//   delivered.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/cluster/cluster.h"
#include "core/feedback/feedback.h"
#include "core/objective.h"
#include "core/sparsifiers/sparsifier.h"
#include "core/trainer/batches.h"
#include "core/trainer/cadence.h"
#include "core/trainer/divergence.h"
#include "core/trainer/run_state.h"
#include "core/trainer/step_rule.h"
#include "core/trainer/step_view.h"

namespace residuum {

/// Where gradients are clipped: nowhere; every worker's before it is compressed, to the bound over
/// sqrt(P) (Lin et al., ICLR 2018, section 3.2); or the mean that was exchanged, to the bound, as
/// the code of the gTop-k papers does.
enum class Clip { none, worker, update };

/// A sparsifier for the iterations before `until`: a warm-up of the density.
struct DensityStage {
  std::uint64_t until = 0;
  std::shared_ptr<const Sparsifier> sparsifier;
};

/// Its parts are rules without state; methods may share them.
struct Method {
  std::shared_ptr<const Sparsifier> sparsifier;  // after the stages
  std::shared_ptr<const Aggregator> aggregator;
  std::shared_ptr<const Feedback> feedback;
  std::shared_ptr<const StepRule> step_rule;
  double momentum = 0;      // heavy ball after aggregation, as the papers' code has it
  double weight_decay = 0;  // lambda: lambda w is added to what was exchanged
  Clip clip = Clip::none;
  double clip_norm = 0;                   // the bound, in units of gradients
  std::vector<DensityStage> stages = {};  // by increasing `until`

  const Sparsifier& sparsifier_at(std::uint64_t iteration) const;

  /// Whether z moves by eta times the mean gradient: no momentum, decay or clipping of updates.
  bool follows_gradients() const;

  /// How far one gradient moves the model in the end if nothing is dropped, in units of eta times
  /// the gradient: 1/(1 - m) with momentum m, before or after the exchange.
  double gain() const;

  /// lambda' where the run minimises f + (lambda'/2)|w|^2: the weight decay, which passes no
  /// momentum before the exchange, relative to the gradients, which do.
  double effective_decay() const;
};

/// Keeps where a run stands, so that it can go on there.
class Checkpoints {
 public:
  using Visit = std::function<void(RunState& state)>;

  Checkpoints() = default;
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;
  Checkpoints(Checkpoints&&) = delete;
  Checkpoints& operator=(Checkpoints&&) = delete;
  virtual ~Checkpoints() = default;

  /// Iterations done: 0, or those of a checkpoint, whose state is then loaded. Collective.
  virtual std::uint64_t load(const Visit& state) = 0;
  /// Whether it is time; asked on the root.
  virtual bool due() = 0;
  /// Collective.
  virtual void save(std::uint64_t iterations, const Visit& state) = 0;
};

/// Of the model, the accumulators and the messages.
enum class Precision { float32, float64 };

struct Training {
  const Objective* objective = nullptr;
  const Method* method = nullptr;
  const Cluster* cluster = nullptr;
  std::vector<std::vector<std::uint32_t>> shards;  // one per worker; empty without a data set
  std::uint64_t seed = 1;
  std::uint64_t iterations = 0;
  std::size_t batch = 1;         // samples per worker and iteration; 0: the whole shard
  std::size_t accumulation = 1;  // parts of a batch whose gradients are taken one after the other
  Sampling sampling = Sampling::replacement;
  Precision precision = Precision::float32;
  bool measure = true;                      // false: no probe wants anything; z is not even formed
  std::optional<Cadence> measured;          // when probes look
  std::optional<Cadence> evaluated;         // when f, grad f are evaluated on all data
  std::optional<Cadence> tested;            // when held-out data are
  bool full_gradient = true;                // whether evaluations include |grad f|^2
  bool averages_iterates = false;           // and f at the average of the iterates
  std::optional<Cadence> virtual_points;    // when f is evaluated at z_t
  bool compares_points = false;             // and grad f at w_t, z_t and z_{t+1} for L
  bool wants_unperturbed = false;           // and at u_t (unperturbed.h), where that is not z_t
  std::optional<Cadence> split;             // when batches are split in halves
  std::optional<Cadence> power;             // when the curvature is taken by power iteration
  std::size_t power_samples = 1024;         // over about so many samples
  std::optional<Cadence> sorted;            // when measurements may sort the accumulator
  std::optional<double> loss_bound;         // an evaluated f above it ends the run as diverged
  std::optional<double> minimum;            // f*, if known
  std::vector<double> minimizer;            // x*, empty if not known
  std::vector<double> worker_smoothness;    // L_p, where somebody wants them and they are known
  const std::atomic<bool>* stop = nullptr;  // set by a signal: stop after this iteration
  Checkpoints* checkpoints = nullptr;       // null: the run is not kept

  /// Whether u is followed: somebody wants it, f is evaluated at it, and it is not z.
  bool follows_unperturbed() const;
};

/// Looks at iterations; called on the root process only, for every measured one.
class StepObserver {
 public:
  StepObserver() = default;
  StepObserver(const StepObserver&) = delete;
  StepObserver& operator=(const StepObserver&) = delete;
  StepObserver(StepObserver&&) = delete;
  StepObserver& operator=(StepObserver&&) = delete;
  virtual ~StepObserver() = default;
  virtual void observe(const StepView& view) = 0;
  /// Called for every iteration done, measured or not.
  virtual void progress(std::uint64_t done, std::uint64_t total) = 0;
};

/// Looks at nothing.
class NoObserver final : public StepObserver {
 public:
  void observe(const StepView& /*view*/) override {}
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
};

struct Outcome {
  enum class State { finished, diverged, stopped };
  State state = State::finished;
  std::string message;                   // where and why, unless finished
  std::optional<Divergence> divergence;  // the same for programs, if diverged
  std::uint64_t iterations = 0;          // done
  std::optional<Evaluation> evaluation;  // at the last model
  std::optional<TestResult> test;
  double wall_s = 0;
};

/// A usage error for a model of 2^32 parameters or more: indices on the wire have 32 bits, and each
/// vector of such a model would take 16 GiB.
void check_dimension(const Objective& objective);

/// Collective over the processes of the cluster; the same outcome on all, but for `evaluation` and
/// `test`, which the root has. Same Training, same bits, at any number of processes.
Outcome train(const Training& training, StepObserver& observer);

/// What f is at w, from all workers' shards, and with a `gradient` to hold it also grad f and its
/// squared norm. The results are on the root. Collective.
Evaluation evaluate(const Training& training, const Point& at, std::vector<double>* gradient);

}  // namespace residuum
