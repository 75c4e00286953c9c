#pragma once
// A step view gives a probe all values of one iteration, read-only, on the root process. Everything
// is float64 whatever the precision of the model. Symbols: w model, z virtual dense iterate, e = w
// - z gap, G^p gradient, a^p accumulator, e^p residual, s^p message, g update (a sum over P
// workers).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/objective.h"
#include "core/record/run_facts.h"
#include "core/schedules/tight_rate.h"
#include "core/training/late_message.h"
#include "core/training/model_shift.h"
#include "core/training/worker_parts.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Network times say how long a run would have taken up to a version on a cluster with some
/// network. They add up: each part is the time by which the run is longer with it than without, in
/// the order of the fields.
struct NetworkTimes {
  std::string network;
  double compute_s = 0;  // gradients, and waits for the slowest
  double select_s = 0;   // accumulation and selection, where they are measured
  double merge_s = 0;    // what workers do with messages that arrived, where it is measured
  double wire_s = 0;     // messages

  double version_s = 0;       // of the last version alone
  std::size_t exchanges = 1;  // of the last version: several where layers are exchanged one by one

  double total_s() const { return compute_s + select_s + merge_s + wire_s; }
};

/// NetworkView has the virtual time of a run in lockstep. It is empty where no clock runs.
struct NetworkView {
  std::span<const NetworkTimes> times;  // up to and with this version, by network
  bool is_measured = false;             // some of the seconds were measured on this machine
  /// With overlap: the parts of a gradient's time after which those of the layers are ready, in the
  /// order of the model.
  std::span<const double> ready = {};
};

/// SelectionView has what the sparsifier of this iteration says of itself.
struct SelectionView {
  double k = 0;                 // entries a worker may send; where the data decide, the mean sent
  bool by_layer = false;        // scope = "layer"
  bool keeps_largest = false;   // a message is Top_k(a^p), its k largest entries as they are
  std::vector<double> layer_k;  // then k of every layer, empty where the data decide
  std::optional<double> threshold;    // an absolute sparsifier's, on the accumulator
  std::optional<double> contraction;  // alpha of the sparsifier, for every accumulator
};

/// MeanView has means over the workers, d numbers each. If some workers skip a version, gradients
/// and accumulators are means over the others, and residuals over all.
struct MeanView {
  std::span<const double> gradient;      // of G^p_t
  std::span<const double> accumulator;   // of a^p_t
  std::span<const double> residual;      // of e^p_{t+1}
  std::span<const double> waiting = {};  // sum of the absent workers' e^p_t over m; else empty
};

/// ExchangeView has what travelled, and what became of it. Lists are those of all workers, in
/// worker order.
struct ExchangeView {
  bool is_dense = false;
  std::span<const double> dense_update;          // g, if dense
  const SparseVector<double>* update = nullptr;  // g otherwise

  std::span<const SparseVector<double>> sent;      // s^p
  std::span<const SparseVector<double>> removed;   // what was taken from a^p
  std::span<const SparseVector<double>> returned;  // entries added back to the residual besides
  bool sent_everything = false;                    // messages are whole accumulators
  bool removed_is_dense = false;                   // then `removed` and `returned` are empty

  Traffic traffic;                            // of all workers together
  std::optional<TrafficModel> traffic_model;  // absent where messages may still be under way
  std::optional<double> divisor;              // of g; absent: P
};

/// RunningSums are sums over all iterations before this one, measured or not.
struct RunningSums {
  double step = 0;   // eta_s
  double noise = 0;  // eta_s^2 |mean G_s|^2
  double gap = 0;    // eta_s |w_s - z_s|^2
};

/// With these terms an estimate of |grad f(w_t)|^2 becomes one of |grad f(w_t) + lambda' w_t|^2.
struct DecayTerms {
  double decay = 0;               // lambda'
  double gradient_dot_model = 0;  // <mean G_t, w_t>
  double model_norm_sq = 0;       // |w_t|^2

  double added() const { return decay * (2 * gradient_dot_model + decay * model_norm_sq); }
};

/// IteratesView has the model, the iterates that it is compared with, and how far they are apart.
struct IteratesView {
  std::span<const double> model;          // w_{t+1}
  std::span<const double> virtual_dense;  // z_{t+1}
  std::span<const double> unperturbed;    // u_{t+1}, empty where it is not followed
  std::span<const double> expected_gap;   // w_{t+1} - z_{t+1} if nothing was ever lost

  double gap_before_norm = 0;                    // |w_t - z_t|
  double virtual_step_norm = 0;                  // |z_{t+1} - z_t|
  double compensated_gap_norm_sq = 0;            // |w_t - z_{t+1}|^2 = |e_t + eta_t mean G|^2
  std::optional<double> distance_sq;             // |w_t - x*|^2, where x* is known
  std::optional<ShiftGap> shift = std::nullopt;  // where gradients are taken at a shift of w
  /// The sum over all versions of (m + 4) times the mean magnitude of its m messages, by which
  /// rounding can have moved w - z; absent where each worker's scalars have its part of it.
  std::optional<double> rounded_magnitude;

  RunningSums sums;
  std::optional<RunningSums> unperturbed_sums;  // with u in place of z, where u is followed
  std::optional<DecayTerms> decay_terms;        // with weight decay
};

/// An evaluation is f(w_t), and |grad f(w_t)|^2 where it was wanted.
struct Evaluation {
  double loss = 0;
  std::optional<double> grad_norm_sq;
};

/// EvaluationsView has the values of f along the run; those that were not evaluated are absent.
struct EvaluationsView {
  std::optional<Evaluation> at_model;          // f(w_t)
  std::span<const double> gradient;            // grad f(w_t), d numbers
  std::optional<double> virtual_loss;          // f(z_t)
  std::optional<double> averaged_loss;         // f(average of w_0 .. w_t)
  std::optional<double> unperturbed_loss;      // f(u_t) + (lambda'/2)|u_t|^2
  std::optional<double> decayed_grad_norm_sq;  // |grad f(w_t) + lambda' w_t|^2, lambda' != 0
  std::optional<double> smoothness_gap;
  std::optional<double> smoothness_secant;
  std::optional<double> smoothness_descent;
  std::optional<double> smoothness_power;
};

/// HalfBatches has the mean gradient of the first halves of the batches.
struct HalfBatches {
  std::span<const double> mean_first;  // over the workers, d numbers
  double first = 0.5;                  // fraction of the batch that the first half is
};

struct StepTimes {
  double compute_s = 0;
  double select_s = 0;
  double aggregate_s = 0;
  double measure_s = 0;
  /// From the start of the run, where workers in lockstep are timed by the wall clock.
  std::optional<double> wall_s = std::nullopt;
};

/// Returns the record of a run that is only known to be dense SGD.
inline const RunFacts& default_facts() {
  static const RunFacts facts;
  return facts;
}

struct StepView {
  const RunFacts& facts = default_facts();  // of the run; of its objective f* alone

  std::uint64_t iteration = 0;
  double epoch = 0;
  double step_size = 0;           // eta_t
  double memory_step = 0;         // c: eta_t in step units, 1 in gradient units
  bool follows_measured = false;  // the iteration before this one was measured too
  bool sorts = false;             // measurements that sort are due

  double unit_roundoff = 0;  // that of the numbers that workers exchange
  double momentum_after_exchange = 0;
  bool steps_locally = false;  // workers hand in how far they have stepped, not one gradient at w_t
  bool batch_is_exact = false;  // gradients have no noise: their halves would be equal
  /// True if the method claims to lose no entry of this version's messages, except by the decay of
  /// residuals.
  bool loses_only_by_decay = true;
  std::span<const double> worker_smoothness = {};  // L_p of every worker, empty where not known
  std::span<const double> minimizer = {};          // x*, empty where not known
  std::optional<LyapunovFacts> lyapunov = std::nullopt;

  SelectionView selection = {};
  MeanView mean = {};
  ExchangeView exchange = {};
  IteratesView iterates = {};
  EvaluationsView evaluations = {};
  std::span<const WorkerScalars> worker_scalars = {};  // of all workers
  /// The contributions to this version have these scalars and workers, which increase in lockstep.
  /// Both are empty where every worker made one, which `worker_scalars` then has.
  std::span<const WorkerScalars> contributed = {};
  std::span<const int> contributors = {};
  std::optional<VersionNotes> notes = std::nullopt;
  std::optional<HalfBatches> halves = std::nullopt;  // absent where batches were not split
  /// This is the mean noise of the gradients since the last row whose batches were split; it is
  /// absent where gradients are current.
  std::optional<double> late_noise = std::nullopt;
  std::optional<TestResult> test = std::nullopt;
  StepTimes times = {};
  NetworkView network = {};
  /// The share of an accumulator's entries in each bin of magnitudes.h, as a mean over the workers;
  /// empty where they were not counted.
  std::span<const double> magnitudes = {};

  double rho() const { return selection.k / facts.dimension; }
  std::size_t dimension() const { return static_cast<std::size_t>(facts.dimension); }

  /// True if g is made of accumulated gradients; else workers mix models, and there is no g,
  /// accumulator or residual to speak of.
  bool exchanges_gradients() const { return facts.protocol.synchrony != Synchrony::neighbours; }
  /// True if all gradients of a version are taken at the one before it.
  bool gradients_are_current() const {
    return exchanges_gradients() && facts.protocol.synchrony != Synchrony::late;
  }
  /// True if a version is made by some of the workers, its contributors.
  bool leaves_out() const { return facts.protocol.participants.has_value(); }
  /// True if the method claims to lose nothing of this version's messages and residuals.
  bool loses_nothing() const { return loses_only_by_decay && facts.feedback.decay == 1; }
  /// True if workers exchange changes of gradient estimates.
  bool estimates() const { return facts.feedback.memory == Memory::estimate; }
  /// True if a^p holds all of e^p, so that e^p_{t+1} is the rest of a^p_t.
  bool accumulators_hold_residuals() const { return facts.feedback.memory != Memory::control; }

  /// Returns the scalars of the contributions to this version.
  std::span<const WorkerScalars> contributions() const {
    return contributed.empty() ? worker_scalars : contributed;
  }
  /// Returns the worker that made the contribution.
  int contributor(std::size_t contribution) const {
    return contributors.empty() ? static_cast<int>(contribution) : contributors[contribution];
  }
  /// Returns what the sum over contributions is divided by.
  double divisor() const { return exchange.divisor.value_or(facts.workers); }
};

/// An observer is shown the measured iterations, on the root process only.
class StepObserver {
 public:
  StepObserver() = default;
  StepObserver(const StepObserver&) = delete;
  StepObserver& operator=(const StepObserver&) = delete;
  StepObserver(StepObserver&&) = delete;
  StepObserver& operator=(StepObserver&&) = delete;
  virtual ~StepObserver() = default;
  virtual void observe(const StepView& view) = 0;
  /// Reports progress; called for every iteration done, measured or not.
  virtual void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) {}
};

/// Ignores all iterations.
class NoObserver final : public StepObserver {
 public:
  void observe(const StepView& /*view*/) override {}
};

}  // namespace residuum
