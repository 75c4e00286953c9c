#pragma once
// Theorems are judged by evidence: the facts of a method and its objective, and the measurements of
// its seeds. A constant that was neither known nor measured has no value, and says so.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/theorems/seed_evidence.h"
#include "assumptions/theorems/theorem.h"
#include "core/messages/laws.h"

namespace residuum {

/// A number that is known from outside the run, and how.
struct Known {
  double value = 0;
  std::string origin;
};

/// How a worker remembers what was not delivered.
enum class Memory { residual, velocity, estimate, control };
/// "error feedback", "momentum correction", "gradient estimates", "gradient estimates with error
/// control".
std::string_view memory_text(Memory memory);

/// MethodFacts is what a theorem must know of a method: laws of its components and facts of its
/// objective. The names are those of a study file, and are only shown.
struct MethodFacts {
  std::string sparsifier = "none";
  std::string aggregator = "dense";
  std::string feedback = "ef14";
  std::string protocol = "bsp";
  std::string step_rule = "constant";
  std::string sampling = "replacement";
  double workers = 1;    // P
  double dimension = 1;  // d

  // The sparsifier's law (core/sparsifiers/sparsifier.h).
  bool sends_everything = true;
  std::optional<double> k = std::nullopt;            // entries a worker keeps
  std::optional<double> contraction = std::nullopt;  // delta_c: E|a - C(a)|^2 <= (1 - it)|a|^2
  bool contraction_is_exact = false;                 // with equality, for every a
  bool keeps_largest = false;                        // the k largest of the whole accumulator
  bool shares_support = false;                       // the same indices on all workers
  bool selects_at_random = false;                    // draws decide what is sent
  bool density_varies = false;                       // a schedule keeps more at first
  std::optional<double> threshold = std::nullopt;    // tau on step-multiplied accumulators
  bool threshold_follows_step = false;               // tau = eta lambda
  bool law_is_claimed = false;                       // by the study, of a program of its own

  // The aggregator's and the feedback's laws.
  bool applies_whole_messages = true;
  bool weighs_messages = false;    // by more than the workers' number, as if some were clipped
  bool approximates_sum = false;   // of whole accumulators, by no sum of messages
  bool cuts_in_merges = false;     // branches of a tree may cut what others deliver
  bool completes_support = false;  // applied entries have the values of all workers
  bool selects_largest = false;    // sums of messages are cut to their k largest entries
  Memory memory = Memory::residual;
  /// a, where estimates follow an average v := (1 - a) v + a G of the gradients.
  std::optional<double> averaging = std::nullopt;
  bool conserves = true;           // nothing is ever lost
  bool in_gradient_units = false;  // the memory holds gradients, not steps

  Synchrony synchrony = Synchrony::lockstep;  // the protocol's law
  bool has_optimisers = false;  // workers step along an optimiser's directions, not along gradients

  // How models are updated.
  bool steps_are_constant = true;
  bool steps_may_grow = false;
  double momentum = 0;                              // before or after the exchange
  double outer_step = 1;                            // the update is multiplied by it
  bool takes_signs = false;                         // the model moves by the signs of the update
  double weight_decay = 0;                          // added after the exchange: f does not have it
  double effective_decay = 0;                       // the run minimises f + (this/2)|w|^2
  std::string clipped = "nothing";                  // or "worker" gradients, or the "update"
  std::optional<double> step_shift = std::nullopt;  // a of eta_t = value/(a + t)

  // The protocol's law: limits that hold in every run, absent where it sets none.
  std::optional<double> staleness = std::nullopt;      // tau: largest staleness
  std::optional<double> contributions = std::nullopt;  // gradients in one update
  std::optional<double> local_steps = std::nullopt;    // H: gradients between two exchanges
  std::optional<double> spectral_gap = std::nullopt;   // 1 - |lambda_2| of what neighbours mix by
  bool contributions_weigh_alike = true;               // a version is the mean of its gradients
  std::optional<double> participants = std::nullopt;   // m, where some workers are left out

  // Gradients.
  bool full_gradients = false;       // every worker's gradient is that of its whole shard
  std::string gradient_bias = {};    // why E G is not grad f of the f evaluated; empty: it is
  bool workers_are_alike = false;    // E G^p = grad f on every worker p, by the objective
  bool independent_draws = true;     // each batch is drawn without regard to those before
  bool deterministic = false;        // no draw of the seed enters the run
  bool differences_are_of_f = true;  // grad f is evaluated on all samples
  bool curvature_is_of_f = true;     // power iteration looks at all samples

  // The objective.
  std::optional<bool> convex = std::nullopt;                      // whether f is
  std::optional<Known> smoothness = std::nullopt;                 // L
  std::optional<Known> worker_smoothness = std::nullopt;          // sqrt of the mean of the L_p^2
  std::optional<Known> mean_worker_smoothness = std::nullopt;     // mean of the L_p
  std::optional<Known> largest_worker_smoothness = std::nullopt;  // largest L_p
  std::optional<Known> strong_convexity = std::nullopt;           // mu
  std::optional<Known> minimum = std::nullopt;                    // f*
  std::optional<Known> lower_bound = std::nullopt;                // of f, where f* is not known
  std::optional<Known> initial_distance_sq = std::nullopt;        // |w_0 - x*|^2
  std::optional<Known> noise_variance = std::nullopt;             // sigma^2 of a worker, at every w

  /// True if the selection loses in expectation exactly what a random one of k entries does.
  bool loses_as_random() const {
    return contraction_is_exact && contraction && k &&
           std::abs(*contraction - *k / dimension) <= 1e-12;
  }

  /// True if what enters the update is the mean of what workers sent, as they sent it: the law of a
  /// selection is then one on the update, too.
  bool applies_as_sent() const {
    return applies_whole_messages && !weighs_messages && !approximates_sum;
  }

  /// True if a residual is what the selection has left of its accumulator, and nothing else.
  bool keeps_what_selection_leaves() const {
    return applies_as_sent() && conserves && memory == Memory::residual;
  }

  /// True if z moves by a velocity: before the exchange, after it, or an average that estimates
  /// follow.
  bool has_momentum() const { return momentum != 0 || averaging.value_or(1) < 1; }
};

/// Returns the facts that both imply, with the weaker constants. Both are of one method: its seeds
/// may differ in their shards, in a threshold that a pilot has found, and in what follows from
/// these.
MethodFacts weaker_of(const MethodFacts& a, const MethodFacts& b);

class Evidence {
 public:
  explicit Evidence(MethodFacts method) : method_(std::move(method)) {}

  const MethodFacts& method() const { return method_; }

  /// Adds one seed; all seeds of a method have runs of the same length.
  void add(SeedEvidence seed) { seeds_.push_back(std::move(seed)); }
  const std::vector<SeedEvidence>& seeds() const { return seeds_; }

  /// Notes seeds whose runs failed or were cut, and left nothing to measure.
  void miss(std::size_t seeds) { missed_ += seeds; }
  /// Notes seeds in which some worker never sent an entry.
  void note_silence(std::size_t seeds) { silent_ += seeds; }
  /// Says why nothing may be said to hold of the method: runs that did not come to their end, or a
  /// worker that never sent anything: "2 of 5 runs diverged, failed or were cut". Empty where there
  /// is no such run.
  std::string reservation() const;

  /// The largest step size seen.
  Constant step_size() const;
  /// L if known; otherwise the largest secant ratio that any method has met on this f, a lower
  /// bound of L.
  Constant smoothness() const;
  /// Tells a ratio that another method has met on the same f. Methods share one L, so that none
  /// profits from having explored less of f.
  void see_smoothness(double ratio) { seen_ = std::max(seen_, std::optional(ratio)); }
  /// The largest ratio measured on f itself, whether L is known or not.
  std::optional<double> largest_smoothness() const;
  /// f(w_0) = f(z_0), mean over the seeds.
  Constant initial_loss() const;
  /// Delta = f(w_0) - f*, or with a lower bound of f in place of f*; mean over the seeds.
  Constant initial_gap() const;
  Constant initial_distance_sq() const;
  Constant strong_convexity() const;
  /// sigma^2 of one worker's gradient: known, or the largest window mean of its estimates.
  Constant noise_variance() const;
  /// zeta^2 with C = 0: the largest window mean of its estimates; 0 for one worker.
  Constant heterogeneity() const;
  /// M^2 with E|mean G|^2 <= M^2: the largest window mean.
  Constant second_moment() const;
  /// G^2 with the mean over workers of E|G^p|^2 <= G^2: the largest window mean.
  Constant worker_second_moment() const;
  /// The largest window mean of |grad f(w_t)|^2.
  Constant true_gradient() const;
  /// q of the gap e = w - z, the largest of windows: sum |e_{t+1}|^2 over sum |e_t + eta mean G|^2.
  Constant contraction() const;
  /// The largest such ratio over the beginnings of the runs. A proof that sums over all iterations
  /// before it bounds needs this one.
  Constant contraction_on_average() const;
  /// The largest of single iterations. A proof that bounds each step needs this one.
  Constant contraction_in_every_iteration() const;
  /// q of the workers' residuals, on average over the run: what the sparsifier promises if that is
  /// exact, else as measured, else the promise.
  Constant worker_contraction() const;
  /// True if that is a promise, or was measured in each iteration.
  bool worker_contraction_is_known() const;
  /// The same of windows: what the sparsifier promises if that is exact, else the largest.
  Constant worker_contraction_in_windows() const;
  /// delta of the gTop-k assumption: the largest of single iterations.
  Constant selection_ratio() const;
  /// Says where `singles` of all seeds were measured: "in each of 300 iterations", "at 64 of 300
  /// iterations".
  bool measured_everywhere(Singles SeedMeasures::*singles) const;
  /// xi of Alistarh et al.: the largest seen.
  Constant xi() const;
  /// |g^p - grad f_p(w_0)|^2 of EF21 before its first step; mean over the seeds.
  Constant initial_distortion() const;
  /// The same with weights: mean L_p times the mean of |g^p - grad f_p(w_0)|^2 / L_p.
  Constant initial_weighted_distortion() const;
  /// sqrt of the mean of the L_p^2, and the mean of the L_p.
  Constant worker_smoothness() const;
  Constant largest_worker_smoothness() const;
  Constant mean_worker_smoothness() const;
  /// The recursion that the distortions of all seeds' estimates obey, step by step.
  EstimateRecursion estimate_recursion() const;
  /// The number of pairs of successive iterations in which it could have been compared.
  std::uint64_t successive_iterations() const;

  /// tau, the largest number of versions between a gradient's base and its use: measured if every
  /// version was, else the protocol's limit.
  Constant largest_staleness() const;
  /// The mean number of such versions, if every version was measured.
  std::optional<double> mean_staleness() const;
  /// b, the fewest gradients that a version is the mean of.
  Constant fewest_contributions() const;
  /// tau_C, how many gradients can be in the making at a time, the one that enters next included.
  Constant concurrency() const;
  /// H, the gradients that a worker takes between two exchanges.
  Constant local_steps() const;
  /// p = 1 - |lambda_2| of the matrix that acts on the models of neighbours.
  Constant spectral_gap() const;
  /// V^2 with the mean over workers of E|G^p - mean G|^2 <= V^2: the largest window mean.
  Constant gradient_spread() const;

  /// (M, sigma^2) with E|xi^p|^2 <= M |grad f_p|^2 + sigma^2, by the upper line of the windows.
  std::vector<Constant> noise_growth() const;
  /// (C, zeta^2) with mean |grad f_p - grad f|^2 <= C |grad f|^2 + zeta^2, likewise.
  std::vector<Constant> similarity() const;

 private:
  Windows pooled(HeldRatio SeedMeasures::*ratio) const;
  /// The range over all versions of all seeds; absent if one was not measured.
  std::optional<Range> range_of_all_versions(Range SeedMeasures::*range) const;

  MethodFacts method_;
  std::vector<SeedEvidence> seeds_;
  std::size_t missed_ = 0;
  std::size_t silent_ = 0;
  std::optional<double> seen_;  // smoothness ratio
};

}  // namespace residuum
