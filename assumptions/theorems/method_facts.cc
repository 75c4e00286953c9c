// A theorem is about all seeds of a method, and so it takes what the facts of all of them imply.
// The facts of one seed would say the less of the others the more the seeds draw.

#include <algorithm>
#include <initializer_list>

#include "assumptions/theorems/evidence.h"

namespace residuum {
namespace {

/// The weaker value of a constant is the one that makes bounds larger.
enum class Weaker { smaller, larger };

bool is_weaker(double a, double b, Weaker which) {
  return which == Weaker::smaller ? a < b : a > b;
}

double number_of(double value) { return value; }
double number_of(const Known& known) { return known.value; }

/// Returns the weaker of two constants; what one of them lacks, both do not imply.
template <class Value>
std::optional<Value> weaker(const std::optional<Value>& a,
                            const std::optional<Value>& b,
                            Weaker which) {
  if (!a || !b) {
    return std::nullopt;
  }
  return is_weaker(number_of(*b), number_of(*a), which) ? b : a;
}

template <class Value>
void weaken(MethodFacts& facts,
            const MethodFacts& other,
            Weaker which,
            std::initializer_list<std::optional<Value> MethodFacts::*> members) {
  for (const auto member : members) {
    facts.*member = weaker(facts.*member, other.*member, which);
  }
}

void weaken_claims(MethodFacts& facts, const MethodFacts& other) {
  const bool one_share = facts.contraction == other.contraction && facts.k == other.k;
  facts.contraction_is_exact = facts.contraction_is_exact && one_share;
  for (const auto claim : {&MethodFacts::sends_everything,
                           &MethodFacts::contraction_is_exact,
                           &MethodFacts::keeps_largest,
                           &MethodFacts::shares_support,
                           &MethodFacts::threshold_follows_step,
                           &MethodFacts::applies_whole_messages,
                           &MethodFacts::completes_support,
                           &MethodFacts::selects_largest,
                           &MethodFacts::conserves,
                           &MethodFacts::steps_are_constant,
                           &MethodFacts::contributions_weigh_alike,
                           &MethodFacts::full_gradients,
                           &MethodFacts::workers_are_alike,
                           &MethodFacts::independent_draws,
                           &MethodFacts::deterministic,
                           &MethodFacts::differences_are_of_f,
                           &MethodFacts::curvature_is_of_f}) {
    facts.*claim = facts.*claim && other.*claim;
  }
  for (const auto reservation : {&MethodFacts::selects_at_random,
                                 &MethodFacts::density_varies,
                                 &MethodFacts::law_is_claimed,
                                 &MethodFacts::weighs_messages,
                                 &MethodFacts::approximates_sum,
                                 &MethodFacts::cuts_in_merges,
                                 &MethodFacts::in_gradient_units,
                                 &MethodFacts::has_optimisers,
                                 &MethodFacts::steps_may_grow,
                                 &MethodFacts::takes_signs}) {
    facts.*reservation = facts.*reservation || other.*reservation;
  }
}

/// Returns whether f is convex: what neither contradicts and one does not know is not known.
std::optional<bool> convex_in_both(const std::optional<bool>& a, const std::optional<bool>& b) {
  if (a == b) {
    return a;
  }
  return a == false || b == false ? std::optional(false) : std::nullopt;
}

}  // namespace

MethodFacts weaker_of(const MethodFacts& a, const MethodFacts& b) {
  MethodFacts facts = a;
  weaken_claims(facts, b);
  weaken<double>(facts,
                 b,
                 Weaker::smaller,
                 {&MethodFacts::k,
                  &MethodFacts::contraction,
                  &MethodFacts::contributions,
                  &MethodFacts::spectral_gap});
  weaken<double>(facts,
                 b,
                 Weaker::larger,
                 {&MethodFacts::threshold, &MethodFacts::staleness, &MethodFacts::local_steps});
  weaken<Known>(facts,
                b,
                Weaker::smaller,
                {&MethodFacts::strong_convexity, &MethodFacts::minimum, &MethodFacts::lower_bound});
  weaken<Known>(facts,
                b,
                Weaker::larger,
                {&MethodFacts::smoothness,
                 &MethodFacts::worker_smoothness,
                 &MethodFacts::mean_worker_smoothness,
                 &MethodFacts::largest_worker_smoothness,
                 &MethodFacts::initial_distance_sq,
                 &MethodFacts::noise_variance});
  facts.convex = convex_in_both(a.convex, b.convex);
  // The words of two seeds may differ; which are shown must not depend on the order of the seeds.
  facts.gradient_bias = std::max(a.gradient_bias, b.gradient_bias);
  return facts;
}

}  // namespace residuum
