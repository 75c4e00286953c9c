#pragma once
// RunFacts is the record of what a run was: the laws of its components, how models are updated, how
// gradients are drawn, facts of its objective. The program fills it in when a run is prepared, and
// writes it into status.json by the list of its fields; reports read it by the same list, and
// `residuum list facts` prints it. Probes, theorems, judges and predictions ask this record and no
// name of a component.

#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/messages/laws.h"

namespace residuum {

/// A number that is known from outside the run, and how.
struct Known {
  double value = 0;
  std::string origin;
};

/// Returns "error feedback", "momentum correction", "gradient estimates" or "gradient estimates
/// with error control".
std::string_view memory_text(Memory memory);

/// The names of components in a study file. They are shown, and nothing depends on them.
struct ComponentNames {
  std::string sparsifier = "none";
  std::string aggregator = "dense";
  std::string feedback = "ef14";
  std::string protocol = "bsp";
  std::string step_rule = "constant";
  std::string sampling = "replacement";
};

/// The properties of the gradients of the workers.
struct GradientLaw {
  bool full = false;              // every worker's gradient is that of its whole shard
  bool workers_alike = false;     // E G^p = grad f on every worker p, by the objective
  bool shares_minimizer = false;  // grad f_p(x*) = 0 on every worker p
  bool independent_draws = true;  // each batch is drawn without regard to those before
};

/// The properties of the values of f that the program evaluates.
struct EvaluationLaw {
  bool differences_are_of_f = true;  // grad f is evaluated on all samples
  bool curvature_is_of_f = true;     // power iteration looks at all samples
};

/// The known facts of f and of the workers' objectives f_p, and those that a seed draws of them.
struct ObjectiveFacts {
  std::optional<bool> convex = std::nullopt;
  std::optional<Known> smoothness = std::nullopt;
  std::optional<Known> worker_smoothness = std::nullopt;
  std::optional<Known> worker_smoothness_mean = std::nullopt;
  std::optional<Known> worker_smoothness_max = std::nullopt;
  std::optional<Known> strong_convexity = std::nullopt;
  std::optional<Known> worker_strong_convexity = std::nullopt;
  std::optional<Known> minimum = std::nullopt;
  std::optional<Known> lower_bound = std::nullopt;
  std::optional<Known> initial_distance_sq = std::nullopt;
  std::optional<Known> noise_variance = std::nullopt;
  std::string gradient_bias = {};  // empty: E G is grad f
  bool starts_from_seed = false;
  bool gradients_from_seed = true;
  bool partition_from_seed = false;
  std::optional<double> samples = std::nullopt;
  std::optional<double> evaluated_samples = std::nullopt;
  std::optional<double> power_samples = std::nullopt;
};

/// By default it is the record of dense SGD in lockstep, of whose objective nothing is known. Below
/// stands what each field says.
struct RunFacts {
  ComponentNames names = {};
  double workers = 1;    // P
  double dimension = 1;  // d

  std::optional<double> k = std::nullopt;
  bool sends_everything = true;
  bool selects_by_layer = false;
  bool density_varies = false;
  bool conserves = true;
  std::optional<double> shift_contraction = std::nullopt;
  bool deterministic = false;

  /// The weakest law of all stages of a density schedule, with what the quantiser adds. Thresholds
  /// are those on step-multiplied accumulators.
  SparsifierLaw sparsifier = {.deterministic = true};
  /// For as many values as a worker sends at most; absent where values travel as they are.
  std::optional<QuantiserLaw> quantiser = std::nullopt;
  AggregatorLaw aggregator = {};
  FeedbackLaw feedback = {};
  ProtocolLaw protocol = {};
  StepLaw step = {.constant = true, .may_grow = false};
  UpdateLaw update = {};
  GradientLaw gradients = {};
  EvaluationLaw evaluation = {};
  ObjectiveFacts objective = {};

  /// Returns m, how many workers take part in a version.
  double taking_part() const {
    return protocol.participants ? static_cast<double>(*protocol.participants) : workers;
  }

  /// True if the selection loses in expectation exactly what a random one of k entries does.
  bool loses_as_random() const {
    return sparsifier.exact && sparsifier.contraction && k &&
           std::abs(*sparsifier.contraction - *k / dimension) <= 1e-12;
  }

  /// True if what enters the update is the mean of what workers sent, as they sent it: the law of a
  /// selection is then one on the update, too.
  bool applies_as_sent() const {
    return aggregator.applies_whole_messages && !aggregator.weighs_messages &&
           !aggregator.approximates_sum;
  }

  /// True if a residual is the part of its accumulator that the selection left, and nothing else.
  bool keeps_what_selection_leaves() const {
    return applies_as_sent() && conserves && feedback.memory == Memory::residual;
  }

  /// True if z moves by a velocity: before the exchange, after it, or an average that estimates
  /// follow.
  bool has_momentum() const { return update.momentum != 0 || feedback.averaging.value_or(1) < 1; }
};

/// The rule by which the facts of two seeds of a method become one fact that holds for both. Of two
/// constants the weaker one is taken, which makes bounds larger. A fact that one seed lacks is
/// absent.
enum class Both {
  claim,        // true where both are
  reservation,  // true where one is
  smaller,
  larger,
  same,   // seeds of one method do not differ in it
  known,  // of two values that do not contradict each other the one that is absent, else false
  words   // the last of the alphabet: what is shown must not depend on the order of the seeds
};

/// A field of the record.
struct FactField {
  std::string_view path;  // the place in status.json
  Both both;
  std::string_view unit;     // empty where it has none
  std::string_view meaning;  // a sentence
  std::string_view type;     // boolean, integer, number or text
  const char* origin = "";   // of a Known that is read
};

// These lists are the only ones of the fields. In status.json a field has the name that it has
// here: NAME of the run as a whole, laws.NAME of its laws, facts.NAME of its objective.

// X(name, both, unit, meaning)
#define RESIDUUM_RUN_FACTS(X)                                                                     \
  X(dimension, same, "", "The model has d numbers.")                                              \
  X(k, smaller, "entries", "A worker keeps k entries; absent where the data decide.")             \
  X(sends_everything, claim, "", "A message is the whole accumulator: C(a) = a.")                 \
  X(selects_by_layer, reservation, "", "Each layer is selected from separately.")                 \
  X(density_varies, reservation, "", "A schedule keeps more entries at first.")                   \
  X(conserves, claim, "", "Nothing of an accumulator is ever lost.")                              \
  X(shift_contraction,                                                                            \
    smaller,                                                                                      \
    "",                                                                                           \
    "A server sends this share of each change of the model; absent where workers take gradients " \
    "at the model.")                                                                              \
  X(deterministic, claim, "", "No draw of the seed enters the run.")

// X(law.name, both, unit, meaning)
#define RESIDUUM_LAW_FACTS(X)                                                                      \
  X(sparsifier.contraction,                                                                        \
    smaller,                                                                                       \
    "",                                                                                            \
    "The share alpha of an accumulator that a message keeps: E|a - C(a)|^2 <= (1 - "               \
    "alpha)|a|^2 for every a.")                                                                    \
  X(sparsifier.pathwise, claim, "", "That bound holds for each draw, not only in expectation.")    \
  X(sparsifier.threshold,                                                                          \
    larger,                                                                                        \
    "",                                                                                            \
    "What a message leaves of a step-multiplied accumulator is below tau in every entry.")         \
  X(sparsifier.exact, claim, "", "That bound holds with equality, for every a.")                   \
  X(sparsifier.deterministic, claim, "", "No draw enters C(a).")                                   \
  X(sparsifier.keeps_values, claim, "", "An entry of C(a) is that of a, or 0.")                    \
  X(sparsifier.keeps_largest, claim, "", "C(a) has the k largest entries of the whole a.")         \
  X(sparsifier.shares_support,                                                                     \
    claim,                                                                                         \
    "",                                                                                            \
    "All workers send the same indices, chosen without their accumulators.")                       \
  X(sparsifier.unbiased, claim, "", "E C(a) = a.")                                                 \
  X(sparsifier.threshold_scales, claim, "", "The threshold tau is proportional to the step size.") \
  X(sparsifier.reuses_threshold, reservation, "", "C depends on the messages before.")             \
  X(sparsifier.claimed, reservation, "", "The study claims this law of a program of its own.")     \
  X(aggregator.applies_whole_messages, claim, "", "g is the sum of the messages.")                 \
  X(aggregator.drops_in_merges,                                                                    \
    reservation,                                                                                   \
    "",                                                                                            \
    "Merges along a tree may drop entries that others apply.")                                     \
  X(aggregator.dropped_stay_with_senders,                                                          \
    claim,                                                                                         \
    "",                                                                                            \
    "What a merge drops counts as not applied at the workers that sent it.")                       \
  X(aggregator.is_sparse, claim, "", "g has at most k entries.")                                   \
  X(aggregator.forwards_messages,                                                                  \
    claim,                                                                                         \
    "",                                                                                            \
    "Messages travel unchanged and are summed only at the end.")                                   \
  X(aggregator.carries_vectors,                                                                    \
    reservation,                                                                                   \
    "",                                                                                            \
    "Workers send vectors of d numbers, whatever the messages hold.")                              \
  X(aggregator.approximates_sum,                                                                   \
    reservation,                                                                                   \
    "",                                                                                            \
    "g approximates the sum of whole accumulators and is no sum of messages.")                     \
  X(aggregator.weighs_messages, reservation, "", "g is not the plain mean of the messages.")       \
  X(aggregator.shifts_model,                                                                       \
    reservation,                                                                                   \
    "",                                                                                            \
    "Workers take gradients at a sum of compressed changes of the model.")                         \
  X(aggregator.completes_support, claim, "", "On its support g is the sum of all accumulators.")   \
  X(aggregator.selects_largest, claim, "", "Sums of messages are cut to their k largest entries.") \
  X(feedback.memory,                                                                               \
    same,                                                                                          \
    "",                                                                                            \
    "A worker remembers what was not applied as a residual, velocity, estimate or control.")       \
  X(feedback.in_gradient_units, reservation, "", "The memory holds gradients, not steps.")         \
  X(feedback.averaging,                                                                            \
    same,                                                                                          \
    "",                                                                                            \
    "Estimates follow an average v := (1 - a) v + a G of the gradients; absent without one.")      \
  X(feedback.error_weight,                                                                         \
    same,                                                                                          \
    "",                                                                                            \
    "The part of what estimates have missed that enters a message; absent where none does.")       \
  X(feedback.decay,                                                                                \
    same,                                                                                          \
    "",                                                                                            \
    "The factor of a residual per iteration; 1 where it does not decay.")                          \
  X(feedback.forgets, reservation, "", "What is not applied is lost: nothing is remembered.")      \
  X(protocol.synchrony, same, "", "Workers are in lockstep, periodic, late or neighbours.")        \
  X(protocol.local_steps, larger, "gradients", "A worker takes H gradients for one version.")      \
  X(protocol.staleness,                                                                            \
    larger,                                                                                        \
    "versions",                                                                                    \
    "A gradient enters at most tau versions after the one it was taken at; absent without a "      \
    "limit.")                                                                                      \
  X(protocol.contributions,                                                                        \
    smaller,                                                                                       \
    "gradients",                                                                                   \
    "Gradients that a version is made of; absent where that varies.")                              \
  X(protocol.spectral_gap,                                                                         \
    smaller,                                                                                       \
    "",                                                                                            \
    "1 - |lambda_2| of the matrix that neighbours mix their models by; absent where none does.")   \
  X(protocol.contributions_weigh_alike,                                                            \
    claim,                                                                                         \
    "",                                                                                            \
    "A version is the plain mean of its gradients.")                                               \
  X(protocol.in_rounds,                                                                            \
    claim,                                                                                         \
    "",                                                                                            \
    "Late gradients enter in rounds: one of each worker, all taken at one model.")                 \
  X(protocol.times_gradients,                                                                      \
    claim,                                                                                         \
    "",                                                                                            \
    "The study says how long gradients take in virtual time.")                                     \
  X(protocol.measures_gradients,                                                                   \
    reservation,                                                                                   \
    "",                                                                                            \
    "These times are measured, and so differ from run to run.")                                    \
  X(protocol.may_leave_out, reservation, "", "A version can be made by some of the workers.")      \
  X(protocol.participants,                                                                         \
    same,                                                                                          \
    "workers",                                                                                     \
    "m of the P workers take part in a version; absent where all do.")                             \
  X(protocol.is_real,                                                                              \
    reservation,                                                                                   \
    "",                                                                                            \
    "Workers run in their own time, on processes of their own.")                                   \
  X(protocol.is_on_wall_clock, reservation, "", "Rows have the time of the wall clock.")           \
  X(step.constant, claim, "", "All steps are equal.")                                              \
  X(step.may_grow, reservation, "", "A step may be larger than one before it.")                    \
  X(step.shift, same, "iterations", "a of eta_t = value/(a + t); absent for other step rules.")    \
  X(update.momentum, same, "", "The factor of momentum, before or after the exchange.")            \
  X(update.outer_step, same, "", "The update is multiplied by it.")                                \
  X(update.takes_signs, reservation, "", "The model moves by the signs of the update.")            \
  X(update.direction,                                                                              \
    same,                                                                                          \
    "",                                                                                            \
    "What else of the update the model moves by; absent where it moves by the update or its "      \
    "signs.")                                                                                      \
  X(update.weight_decay, same, "", "lambda: lambda w is added after the exchange.")                \
  X(update.effective_decay, same, "", "The run minimises f + (this/2)|w|^2.")                      \
  X(update.clipped, same, "", "The gradients of a worker, the update or nothing is clipped.")      \
  X(update.has_optimisers,                                                                         \
    reservation,                                                                                   \
    "",                                                                                            \
    "Workers step along the directions of an optimiser, not along gradients.")                     \
  X(gradients.full, claim, "", "A worker's gradient is that of its whole shard.")                  \
  X(gradients.workers_alike, claim, "", "E G^p = grad f on every worker p.")                       \
  X(gradients.shares_minimizer, claim, "", "grad f_p(x*) = 0 on every worker p.")                  \
  X(gradients.independent_draws, claim, "", "A batch is drawn without regard to those before.")    \
  X(evaluation.differences_are_of_f, claim, "", "grad f is evaluated on all samples.")             \
  X(evaluation.curvature_is_of_f, claim, "", "Power iteration for L looks at all samples.")

// X(law.name, both, unit, meaning) of a law that a run may lack
#define RESIDUUM_QUANTISER_FACTS(X)                                                            \
  X(contraction,                                                                               \
    smaller,                                                                                   \
    "",                                                                                        \
    "The share alpha of the values that their codes keep: E|x - Q(x)|^2 <= (1 - alpha)|x|^2.") \
  X(variance, larger, "", "omega of an unbiased quantiser: E|Q(x) - x|^2 <= omega|x|^2.")      \
  X(bits, larger, "bits", "Bits of the code of one value.")                                    \
  X(random, reservation, "", "Draws enter Q(x).")

// X(name, both, unit, origin, meaning)
#define RESIDUUM_OBJECTIVE_FACTS(X)                                                                \
  X(convex, known, "", "", "f is convex.")                                                         \
  X(smoothness, larger, "", "exact: of the objective", "L of f.")                                  \
  X(worker_smoothness,                                                                             \
    larger,                                                                                        \
    "",                                                                                            \
    "exact: of the workers' objectives",                                                           \
    "The root of the mean of L_p^2 over the workers.")                                             \
  X(worker_smoothness_mean,                                                                        \
    larger,                                                                                        \
    "",                                                                                            \
    "exact: of the workers' objectives",                                                           \
    "The mean of L_p over the workers.")                                                           \
  X(worker_smoothness_max,                                                                         \
    larger,                                                                                        \
    "",                                                                                            \
    "exact: of the workers' objectives",                                                           \
    "The largest L_p of all workers.")                                                             \
  X(strong_convexity, smaller, "", "exact: of the objective", "mu of f.")                          \
  X(worker_strong_convexity,                                                                       \
    smaller,                                                                                       \
    "",                                                                                            \
    "exact: of the workers' objectives",                                                           \
    "A mu that every f_p has.")                                                                    \
  X(minimum, smaller, "", "f* known", "f*, the least value of f.")                                 \
  X(lower_bound,                                                                                   \
    smaller,                                                                                       \
    "",                                                                                            \
    "a bound that f is never below",                                                               \
    "f is never below it; told where f* may not be known.")                                        \
  X(initial_distance_sq, larger, "", "exact: x* is known", "|w_0 - x*|^2.")                        \
  X(noise_variance,                                                                                \
    larger,                                                                                        \
    "",                                                                                            \
    "exact: of the objective",                                                                     \
    "sigma^2 of a worker's gradient, at every w.")                                                 \
  X(gradient_bias, words, "", "", "Why E G is not grad f of the f evaluated; absent where it is.") \
  X(starts_from_seed, reservation, "", "", "The seed draws w_0.")                                  \
  X(gradients_from_seed, reservation, "", "", "The seed draws batches.")                           \
  X(partition_from_seed, reservation, "", "", "The seed draws the shards.")                        \
  X(samples, same, "samples", "", "n of the training set; absent without one.")                    \
  X(evaluated_samples, same, "samples", "", "Samples that f is evaluated on.")                     \
  X(power_samples, same, "samples", "", "Samples that power iteration for L looks at.")

/// Returns the type of a field, in the words of columns.h.
template <class Value>
constexpr std::string_view fact_type(const Value* /*field*/) {
  return std::same_as<Value, bool>     ? "boolean"
         : std::integral<Value>        ? "integer"
         : std::same_as<Value, double> ? "number"
         : std::same_as<Value, Known>  ? "number"
                                       : "text";
}
template <class Value>
constexpr std::string_view fact_type(const std::optional<Value>* /*field*/) {
  return fact_type(static_cast<const Value*>(nullptr));
}

/// Calls visit(FactField, place) for every field but the names and the number of workers, which a
/// run's settings say. place(facts) is a pointer to the field; null if the run has no law of that
/// kind.
template <class Visit>
void visit_fact_fields(const Visit& visit) {  // NOLINT(readability-function-size): a list
  const auto with_type = [&](FactField field, auto place) {
    field.type = fact_type(decltype(place(std::declval<const RunFacts&>()))());
    visit(field, place);
  };
#define RESIDUUM_VISIT(name, both, unit, meaning)                \
  with_type(FactField{#name, Both::both, unit, meaning, "", ""}, \
            [](auto& facts) { return &facts.name; });
  RESIDUUM_RUN_FACTS(RESIDUUM_VISIT)
#undef RESIDUUM_VISIT
#define RESIDUUM_VISIT(name, both, unit, meaning)                        \
  with_type(FactField{"laws." #name, Both::both, unit, meaning, "", ""}, \
            [](auto& facts) { return &facts.name; });
  RESIDUUM_LAW_FACTS(RESIDUUM_VISIT)
#undef RESIDUUM_VISIT
#define RESIDUUM_VISIT(name, both, unit, meaning)                                  \
  with_type(FactField{"laws.quantiser." #name, Both::both, unit, meaning, "", ""}, \
            [](auto& facts) { return facts.quantiser ? &facts.quantiser->name : nullptr; });
  RESIDUUM_QUANTISER_FACTS(RESIDUUM_VISIT)
#undef RESIDUUM_VISIT
#define RESIDUUM_VISIT(name, both, unit, origin, meaning)                     \
  with_type(FactField{"facts." #name, Both::both, unit, meaning, "", origin}, \
            [](auto& facts) { return &facts.objective.name; });
  RESIDUUM_OBJECTIVE_FACTS(RESIDUUM_VISIT)
#undef RESIDUUM_VISIT
}

/// Returns the facts that both imply, with the weaker constants. Both are of one method: its seeds
/// may differ in their shards, in a threshold that a pilot has found, and in what follows from
/// these.
RunFacts weaker_of(const RunFacts& a, const RunFacts& b);

}  // namespace residuum
