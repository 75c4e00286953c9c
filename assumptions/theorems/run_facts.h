#pragma once
// RunFacts is the record of what a run was: laws of its components, how models are updated, how
// gradients are drawn, facts of its objective. The program fills it in when a run is prepared, and
// writes it into status.json by the list of its fields; reports read it by the same list. Theorems,
// judges and predictions ask this record and no name of a component.

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "core/messages/laws.h"

namespace residuum {

/// A number that is known from outside the run, and how.
struct Known {
  double value = 0;
  std::string origin;
};

/// How a worker remembers what was not delivered.
enum class Memory { residual, velocity, estimate, control };
/// "residual", "velocity", "estimate", "control": the words of status.json.
std::string_view name_of(Memory memory);
std::optional<Memory> memory_of(std::string_view name);
/// "error feedback", "momentum correction", "gradient estimates", "gradient estimates with error
/// control".
std::string_view memory_text(Memory memory);

struct RunFacts {
  // The names are those of a study file. They are shown, and nothing depends on them.
  std::string sparsifier = "none";
  std::string aggregator = "dense";
  std::string feedback = "ef14";
  std::string protocol = "bsp";
  std::string step_rule = "constant";
  std::string sampling = "replacement";

  double workers = 1;    // P
  double dimension = 1;  // d

  // The sparsifier's law (core/sparsifiers/sparsifier.h): the weakest of all stages of a density
  // schedule, with what the quantiser adds.
  bool sends_everything = true;                      // C(a) = a
  std::optional<double> k = std::nullopt;            // entries a worker keeps
  std::optional<double> contraction = std::nullopt;  // delta_c: E|a - C(a)|^2 <= (1 - it)|a|^2
  bool contraction_is_exact = false;                 // with equality, for every a
  bool contraction_is_pathwise = false;              // for each draw, not only in expectation
  bool keeps_largest = false;                        // the k largest of the whole accumulator
  bool shares_support = false;                       // the same indices on all workers
  bool is_unbiased = false;                          // E C(a) = a
  bool selects_at_random = false;                    // draws decide what is sent
  bool selects_by_layer = false;                     // from each layer separately
  bool density_varies = false;                       // a schedule keeps more at first
  std::optional<double> threshold = std::nullopt;    // tau on step-multiplied accumulators
  bool threshold_follows_step = false;               // tau = eta lambda
  bool law_is_claimed = false;                       // by the study, of a program of its own

  // The quantiser's law, for as many values as a worker sends at most; absent without one.
  std::optional<double> quantiser_contraction = std::nullopt;  // E|x - Q(x)|^2 <= (1 - it)|x|^2
  std::optional<double> quantiser_variance = std::nullopt;     // omega of an unbiased one
  std::optional<double> quantiser_bits = std::nullopt;         // of one value
  std::optional<bool> quantiser_draws = std::nullopt;          // draws enter Q(x)

  // The aggregator's and the feedback's laws.
  bool applies_whole_messages = true;
  bool weighs_messages = false;    // by more than the workers' number, as if some were clipped
  bool approximates_sum = false;   // of whole accumulators, by no sum of messages
  bool cuts_in_merges = false;     // branches of a tree may cut what others deliver
  bool is_sparse = true;           // g has at most k entries
  bool completes_support = false;  // applied entries have the values of all workers
  bool selects_largest = false;    // sums of messages are cut to their k largest entries
  /// The share that a server keeps of each change of the model that it sends to the workers, which
  /// take gradients at the sum of these; absent where they take them at the model.
  std::optional<double> shift_contraction = std::nullopt;
  Memory memory = Memory::residual;
  /// a, where estimates follow an average v := (1 - a) v + a G of the gradients.
  std::optional<double> averaging = std::nullopt;
  /// w, the part of what estimates have missed that enters messages.
  std::optional<double> error_weight = std::nullopt;
  bool conserves = true;           // nothing is ever lost
  bool in_gradient_units = false;  // the memory holds gradients, not steps

  Synchrony synchrony = Synchrony::lockstep;  // the protocol's law
  bool has_optimisers = false;  // workers step along an optimiser's directions, not along gradients

  // How models are updated.
  bool steps_are_constant = true;
  bool steps_may_grow = false;
  double momentum = 0;              // before or after the exchange
  double outer_step = 1;            // the update is multiplied by it
  bool takes_signs = false;         // the model moves by the signs of the update
  std::string direction = {};       // what else of the update the model moves by; empty: the update
  double weight_decay = 0;          // added after the exchange: f does not have it
  double effective_decay = 0;       // the run minimises f + (this/2)|w|^2
  std::string clipped = "nothing";  // or "worker" gradients, or the "update"
  std::optional<double> step_shift = std::nullopt;  // a of eta_t = value/(a + t)

  // The protocol's law: limits that hold in every run, absent where it sets none.
  std::optional<double> staleness = std::nullopt;      // tau: largest staleness
  std::optional<double> contributions = std::nullopt;  // gradients in one update
  std::optional<double> local_steps = std::nullopt;    // H: gradients between two exchanges
  std::optional<double> spectral_gap = std::nullopt;   // 1 - |lambda_2| of what neighbours mix by
  bool contributions_weigh_alike = true;               // a version is the mean of its gradients
  bool in_rounds = false;  // late gradients enter in rounds: one of each worker, at one model
  std::optional<double> participants = std::nullopt;  // m, where some workers are left out

  // Gradients, and where f is evaluated.
  bool full_gradients = false;       // every worker's gradient is that of its whole shard
  std::string gradient_bias = {};    // why E G is not grad f of the f evaluated; empty: it is
  bool workers_are_alike = false;    // E G^p = grad f on every worker p, by the objective
  bool shares_minimizer = false;     // grad f_p(x*) = 0 on every worker p
  bool independent_draws = true;     // each batch is drawn without regard to those before
  bool deterministic = false;        // no draw of the seed enters the run
  bool differences_are_of_f = true;  // grad f is evaluated on all samples
  bool curvature_is_of_f = true;     // power iteration looks at all samples
  bool starts_from_seed = false;     // the seed draws w_0
  bool gradients_from_seed = true;   // it draws batches
  bool partition_from_seed = false;  // it draws the shards
  std::optional<double> samples = std::nullopt;            // n; absent without a data set
  std::optional<double> evaluated_samples = std::nullopt;  // that f is evaluated on
  std::optional<double> power_samples = std::nullopt;      // that power iteration looks at

  // The objective.
  std::optional<bool> convex = std::nullopt;                      // whether f is
  std::optional<Known> smoothness = std::nullopt;                 // L
  std::optional<Known> worker_smoothness = std::nullopt;          // sqrt of the mean of the L_p^2
  std::optional<Known> mean_worker_smoothness = std::nullopt;     // mean of the L_p
  std::optional<Known> largest_worker_smoothness = std::nullopt;  // largest L_p
  std::optional<Known> strong_convexity = std::nullopt;           // mu
  std::optional<Known> worker_strong_convexity = std::nullopt;    // a mu that every f_p has
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

/// What the facts of two seeds of a method both imply. The weaker value of a constant is the one
/// that makes bounds larger. What one of them lacks, both do not imply.
enum class Both {
  claim,        // true where both are
  reservation,  // true where one is
  smaller,
  larger,
  same,   // seeds of one method do not differ in it
  known,  // of two values that do not contradict each other the one that is absent, else false
  words   // the last of the alphabet: what is shown must not depend on the order of the seeds
};

/// A field of the record. Its path is the place in status.json.
struct FactField {
  std::string_view path;
  Both both;
  const char* origin = "";  // of a Known that is read
};

/// Calls visit(FactField, pointer to member) for every field but the names.
template <class Visit>
void visit_fact_fields(const Visit& visit) {  // NOLINT(readability-function-size): a list
  using F = RunFacts;
  constexpr const char* kObjective = "exact: of the objective";
  constexpr const char* kWorkers = "exact: of the workers' objectives";
  visit(FactField{"dimension", Both::same}, &F::dimension);
  visit(FactField{"k", Both::smaller}, &F::k);
  visit(FactField{"conserves", Both::claim}, &F::conserves);

  visit(FactField{"laws.sparsifier.contraction", Both::smaller}, &F::contraction);
  visit(FactField{"laws.sparsifier.exact", Both::claim}, &F::contraction_is_exact);
  visit(FactField{"laws.sparsifier.pathwise", Both::claim}, &F::contraction_is_pathwise);
  visit(FactField{"laws.sparsifier.selects_at_random", Both::reservation}, &F::selects_at_random);
  visit(FactField{"laws.sparsifier.keeps_largest", Both::claim}, &F::keeps_largest);
  visit(FactField{"laws.sparsifier.shares_support", Both::claim}, &F::shares_support);
  visit(FactField{"laws.sparsifier.unbiased", Both::claim}, &F::is_unbiased);
  visit(FactField{"laws.sparsifier.threshold", Both::larger}, &F::threshold);
  visit(FactField{"laws.sparsifier.threshold_follows_step", Both::claim},
        &F::threshold_follows_step);
  visit(FactField{"laws.sparsifier.sends_everything", Both::claim}, &F::sends_everything);
  visit(FactField{"laws.sparsifier.by_layer", Both::reservation}, &F::selects_by_layer);
  visit(FactField{"laws.sparsifier.scheduled", Both::reservation}, &F::density_varies);
  visit(FactField{"laws.sparsifier.claimed", Both::reservation}, &F::law_is_claimed);

  visit(FactField{"laws.quantiser.contraction", Both::smaller}, &F::quantiser_contraction);
  visit(FactField{"laws.quantiser.variance", Both::larger}, &F::quantiser_variance);
  visit(FactField{"laws.quantiser.bits", Both::larger}, &F::quantiser_bits);
  visit(FactField{"laws.quantiser.random", Both::known}, &F::quantiser_draws);

  visit(FactField{"laws.aggregator.applies_whole_messages", Both::claim},
        &F::applies_whole_messages);
  visit(FactField{"laws.aggregator.cuts_in_merges", Both::reservation}, &F::cuts_in_merges);
  visit(FactField{"laws.aggregator.is_sparse", Both::claim}, &F::is_sparse);
  visit(FactField{"laws.aggregator.completes_support", Both::claim}, &F::completes_support);
  visit(FactField{"laws.aggregator.selects_largest", Both::claim}, &F::selects_largest);
  visit(FactField{"laws.aggregator.weighs_messages", Both::reservation}, &F::weighs_messages);
  visit(FactField{"laws.aggregator.approximates_sum", Both::reservation}, &F::approximates_sum);
  visit(FactField{"laws.aggregator.shift_contraction", Both::smaller}, &F::shift_contraction);

  visit(FactField{"laws.feedback.memory", Both::same}, &F::memory);
  visit(FactField{"laws.feedback.in_gradient_units", Both::reservation}, &F::in_gradient_units);
  visit(FactField{"laws.feedback.averaging", Both::same}, &F::averaging);
  visit(FactField{"laws.feedback.error_weight", Both::same}, &F::error_weight);

  visit(FactField{"laws.protocol.synchrony", Both::same}, &F::synchrony);
  visit(FactField{"laws.protocol.local_steps", Both::larger}, &F::local_steps);
  visit(FactField{"laws.protocol.staleness", Both::larger}, &F::staleness);
  visit(FactField{"laws.protocol.contributions", Both::smaller}, &F::contributions);
  visit(FactField{"laws.protocol.contributions_weigh_alike", Both::claim},
        &F::contributions_weigh_alike);
  visit(FactField{"laws.protocol.in_rounds", Both::claim}, &F::in_rounds);
  visit(FactField{"laws.protocol.spectral_gap", Both::smaller}, &F::spectral_gap);
  visit(FactField{"laws.protocol.participants", Both::same}, &F::participants);
  visit(FactField{"laws.local.has_optimiser", Both::reservation}, &F::has_optimisers);

  visit(FactField{"laws.step.constant", Both::claim}, &F::steps_are_constant);
  visit(FactField{"laws.step.may_grow", Both::reservation}, &F::steps_may_grow);
  visit(FactField{"laws.step.shift", Both::same}, &F::step_shift);
  visit(FactField{"laws.update.momentum", Both::same}, &F::momentum);
  visit(FactField{"laws.update.outer_step", Both::same}, &F::outer_step);
  visit(FactField{"laws.update.takes_signs", Both::reservation}, &F::takes_signs);
  visit(FactField{"laws.update.direction", Both::same}, &F::direction);
  visit(FactField{"laws.update.weight_decay", Both::same}, &F::weight_decay);
  visit(FactField{"laws.update.effective_decay", Both::same}, &F::effective_decay);
  visit(FactField{"laws.update.clipped", Both::same}, &F::clipped);

  visit(FactField{"laws.gradients.full", Both::claim}, &F::full_gradients);
  visit(FactField{"laws.gradients.workers_alike", Both::claim}, &F::workers_are_alike);
  visit(FactField{"laws.gradients.shares_minimizer", Both::claim}, &F::shares_minimizer);
  visit(FactField{"laws.gradients.independent_draws", Both::claim}, &F::independent_draws);
  visit(FactField{"laws.gradients.deterministic", Both::claim}, &F::deterministic);
  visit(FactField{"laws.evaluation.differences_are_of_f", Both::claim}, &F::differences_are_of_f);
  visit(FactField{"laws.evaluation.curvature_is_of_f", Both::claim}, &F::curvature_is_of_f);

  visit(FactField{"facts.convex", Both::known}, &F::convex);
  visit(FactField{"facts.smoothness", Both::larger, kObjective}, &F::smoothness);
  visit(FactField{"facts.worker_smoothness", Both::larger, kWorkers}, &F::worker_smoothness);
  visit(FactField{"facts.worker_smoothness_mean", Both::larger, kWorkers},
        &F::mean_worker_smoothness);
  visit(FactField{"facts.worker_smoothness_max", Both::larger, kWorkers},
        &F::largest_worker_smoothness);
  visit(FactField{"facts.strong_convexity", Both::smaller, kObjective}, &F::strong_convexity);
  visit(FactField{"facts.worker_strong_convexity", Both::smaller, kWorkers},
        &F::worker_strong_convexity);
  visit(FactField{"facts.minimum", Both::smaller, "f* known"}, &F::minimum);
  visit(FactField{"facts.lower_bound", Both::smaller, "a bound that f is never below"},
        &F::lower_bound);
  visit(FactField{"facts.initial_distance_sq", Both::larger, "exact: x* is known"},
        &F::initial_distance_sq);
  visit(FactField{"facts.noise_variance", Both::larger, kObjective}, &F::noise_variance);
  visit(FactField{"facts.starts_from_seed", Both::reservation}, &F::starts_from_seed);
  visit(FactField{"facts.gradients_from_seed", Both::reservation}, &F::gradients_from_seed);
  visit(FactField{"facts.partition_from_seed", Both::reservation}, &F::partition_from_seed);
  visit(FactField{"facts.gradient_bias", Both::words}, &F::gradient_bias);
  visit(FactField{"facts.samples", Both::same}, &F::samples);
  visit(FactField{"facts.evaluated_samples", Both::same}, &F::evaluated_samples);
  visit(FactField{"facts.power_samples", Both::same}, &F::power_samples);
}

/// Returns the facts that both imply, with the weaker constants. Both are of one method: its seeds
/// may differ in their shards, in a threshold that a pilot has found, and in what follows from
/// these.
RunFacts weaker_of(const RunFacts& a, const RunFacts& b);

}  // namespace residuum
