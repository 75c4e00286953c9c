#pragma once
// An examination puts a theorem to the evidence. The theorem states its preconditions, asks for its
// constants, and gives the terms of its right side at a horizon; the rest is the same for all.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assumptions/theorems/evidence.h"
#include "assumptions/theorems/theorem.h"
#include "core/messages/laws.h"

namespace residuum {

/// The quantity that the theorem bounds: the average of |grad f(w_t)|^2, with weight decay of |grad
/// f(w_t) + lambda w_t|^2, or of f(w_t) - f*, each iteration weighted by its step size; or f
/// - f* at a weighted average of the models or at the last one; or the factor of a Lyapunov
/// function in single iterations.
enum class Left { gradient, decayed_gradient, loss_gap, averaged_model, last_model, lyapunov };

/// Which workers contribute in each iteration: all, or a sample drawn independently of the past,
/// whose mean gradient is that of f in expectation.
enum class Taking { all, some };

class Examination {
 public:
  /// The right side at a snapshot as terms; absent where the snapshot lacks something.
  using Terms = std::function<std::optional<std::vector<BoundTerm>>(const Snapshot&)>;

  Examination(const Evidence& evidence, Left left, Taking taking = Taking::all);

  const Evidence& evidence() const { return *evidence_; }
  const RunFacts& method() const { return evidence_->method(); }

  /// Records that the theorem asks for this. Preconditions are noted by themselves; those that some
  /// methods alone show are noted for all, so that a page can tell them.
  void ask(const std::string& statement);
  /// Adds a precondition. The detail gives the fact behind it; it is shown whether met or not.
  void precondition(std::string statement, bool met, std::string detail = {});
  void precondition(std::string statement, PreconditionState state, std::string detail);

  /// The value of a constant; not a number where it is missing, which the examination remembers.
  double need(const Constant& constant);
  std::pair<double, double> need_both(const std::vector<Constant>& constants);

  void lockstep();
  /// Gradients are unbiased given the past, and taken at the model that the update moves.
  void unbiased_gradients_at_model();
  /// Gradients are unbiased given the past, wherever they are taken.
  void unbiased_draws();
  /// A server sends the workers compressed changes of the model; returns the share that it keeps.
  double model_is_shifted();
  /// Gradients are unbiased, and workers send gradients, not directions of an optimiser.
  void unbiased_gradients();
  /// Workers send gradients, not directions of an optimiser.
  void workers_hand_in_gradients();
  /// Every worker's gradient has the expectation grad f, or the mean of all that a version has of
  /// one model.
  void workers_are_alike();
  /// Workers send all that they have, and it is applied as it was sent.
  void everything_is_sent();
  /// Every gradient of a version has the same part in it.
  void versions_are_means();
  /// There is no momentum, neither before the exchange nor after it.
  void no_momentum();
  void nothing_decays_or_is_clipped();
  void no_outer_step();
  /// The update is the step size times the exchanged vector: no momentum, no weight decay, no
  /// clipping.
  void plain_updates();
  /// Workers exchange in lockstep, unbiased gradients, plain updates.
  void lockstep_with_plain_updates();
  /// All of that holds, and residuals do not change with the step size.
  void plain_synchronous_steps();
  void constant_step();
  void steps_do_not_increase();
  void convex_objective();
  void whole_messages_are_applied();
  /// Every worker has an estimate of its gradient, or of an average of its gradients. Workers
  /// exchange changes of the estimates, and the model moves by their mean.
  void estimates_are_exchanged();
  void full_gradients();
  /// E|a - C(a)|^2 <= (1 - alpha)|a|^2 for every a; returns alpha.
  double sparsifier_keeps_a_share();
  /// The residual of every worker, which was not applied, is added to its next gradient.
  void error_feedback();
  /// Every message enters the update as it was sent, and its worker keeps the rest in the residual.
  void error_feedback_of_whole_messages();
  /// The k largest entries of the whole accumulator are sent, k < d.
  void largest_entries_are_sent();
  /// The gap contracts on average over the run, which is enough for a constant step; returns q.
  double gap_contracts_on_average();
  /// The gap contracts in every iteration; returns the largest q_t.
  double gap_contracts_in_every_iteration();
  /// The workers' residuals contract on average; returns q_p.
  double residuals_contract();
  /// The largest step size is at most `limit` (not a number: a constant of it is missing). Returns
  /// the step size. With an L that was only measured the limit may be smaller.
  double step_at_most(double limit, const std::string& formula);

  /// The step size is `value` but for rounding. Returns the step size.
  double step_is(double value, const std::string& formula);
  /// The bound is a linear rate at the run's step, which the tight rate at the same constants is
  /// held against.
  void has_rate(double rate);

  /// Sets T* where it is not that of two terms of the orders 1/sqrt(T) and 1/T.
  void horizon_is(double horizon) { horizon_ = horizon; }
  /// A term stays whatever T is: there is no T*.
  void has_no_horizon() { has_horizon_ = false; }
  /// Leading terms of order 1/T and fast ones of order 1/T^2.
  void rates_are_of_one_over_t() { horizon_power_ = 1; }

  Bound finish(const Terms& terms);
  /// The theorem says that the Lyapunov function falls by this factor, the tight rate, in every
  /// iteration of every seed. No interval is needed: one iteration above it refutes the theorem.
  Bound finish_in_every_iteration(double rate);

 private:
  struct Sides;

  void contracts(const std::string& statement, double contraction, bool proven);
  bool met() const;
  void missing_reason(const std::string& what);
  bool half_batches_are_at_the_model() const;
  std::optional<Average> left_at(const Snapshot& snapshot) const;
  std::vector<Sides> evaluate(const Terms& terms) const;
  void fill(const std::vector<Sides>& points);
  static bool is_sampled(const Sides& last);
  std::string_view cure_of_sampling() const;
  void judge(const Sides& last);
  void hold_nothing_with_reservation();
  bool is_decided_before_measuring();
  void judge_single_iterations(double rate);
  void measure_rate(double iterations);
  void remark(const std::string& text);
  void remark_reservations(const Sides& last);
  void find_horizon(double iterations);

  const Evidence* evidence_;
  Left left_;
  Bound bound_;
  std::optional<double> horizon_;
  double horizon_power_ = 2;
  bool has_horizon_ = true;
};

/// E|mean G|^2 <= A |grad f|^2 + B from noise growth (M, sigma^2) and similarity (C, zeta^2).
struct AggregateNoise {
  double growth = 1;              // A = 1 + M (1 + C)/P
  double variance = 0;            // sigma^2/P, the part of B that is noise
  double from_heterogeneity = 0;  // M zeta^2/P, the rest of it
  double noise_growth = 0;        // M
  double worker_variance = 0;     // sigma^2
  double similarity = 0;          // C
  double spread = 0;              // zeta^2
};
/// C and zeta^2 are asked for where M > 0 brings them in, or where the theorem itself does.
AggregateNoise aggregate_noise(Examination& exam, bool needs_similarity = false);

/// The term of noise that grows with the workers' own gradients; none where M = 0.
void add_heterogeneous_noise(std::vector<BoundTerm>& terms,
                             const std::string& formula,
                             double value);

// Theorems about dense gradients, one for each way in which workers stay in step, share these
// preconditions and terms.

struct DenseConstants {
  double smoothness = 0;  // L
  double gap = 0;         // Delta
  double variance = 0;    // sigma^2 of a worker
};

/// Asks for plain updates by a constant step along unbiased gradients that are sent whole.
DenseConstants need_dense_constants(Examination& exam);

void protocol_is(Examination& exam, Synchrony synchrony);

/// 2 Delta/(eta T), and terms that do not depend on T.
Examination::Terms start_and(double gap, std::vector<BoundTerm> rest);

}  // namespace residuum
