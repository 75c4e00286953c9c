// This is the proof of the measured certificate. Let z_{t+1} = z_t - eta_t g_t with g_t the mean
// gradient, and e_t = w_t - z_t, whatever made the two differ. f is L-smooth, so
//   f(z_{t+1}) <= f(z_t) - eta_t <grad f(z_t), g_t> + (L/2) eta_t^2 |g_t|^2.
// Given the past E g_t = grad f(w_t), and
//   <grad f(z), grad f(w)> = (|grad f(z)|^2 + |grad f(w)|^2 - |grad f(z) - grad f(w)|^2) / 2
//                         >= |grad f(w)|^2 / 2 - L^2 |e|^2 / 2.
// Summed over t < T, doubled, in expectation:
//   sum eta_t |grad f(w_t)|^2 <= 2 (f(z_0) - f(z_T)) + L sum eta_t^2 |g_t|^2
//                                + L^2 sum eta_t |e_t|^2.
// The proof needs no assumption on the selection and no bounded gradients. The mass that a method
// loses for good (the leak) is a part of e like any other; it is the part that the residuals do not
// explain.
//
// None of this asks how w moves. With momentum, weight decay, clipping or signs z is another
// sequence, and
// `certificate-any-rule` takes u in its place, which is SGD on the mean gradients
// whatever the rule does (core/measurement/iterates.h): u_0 = w_0, u_{t+1} = u_t - eta'_t (g_t +
// lambda w_t). The proof is the one above with u for z, eta' for eta, and f + (lambda/2)|w|^2,
// which is (L + lambda)-smooth and of which g_t + lambda w_t is an unbiased gradient, for f. How
// well a rule keeps w near u is measured: momentum by its velocity, error feedback by its
// residuals, clipped updates and masked velocities by all that they ever took away.
//
// Workers that step locally between two exchanges begin from one model: w_t is that model, and g_t
// the mean of their first gradients, which are the only ones taken at it. Given the past E g_t =
// grad f(w_t), and no drift enters. An eta' of H steps leaves the other steps to
// w - u, whatever the optimiser that made them.
//
// The mean gradient may be that of some workers, drawn anew for every version with equal chances:
// given the past its expectation is grad f(w_t) all the same.
//
// If f(z) was never evaluated, f* or a lower bound of f takes the place of f(z_T), which is not
// below it.

#include <fmt/format.h>

#include <algorithm>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

/// Returns a lower bound of f(z_T), if one is known: f*, or a lower bound of f.
std::optional<double> floor_of(const RunFacts& facts) {
  const auto& floor =
      facts.objective.minimum ? facts.objective.minimum : facts.objective.lower_bound;
  return floor ? std::optional<double>(floor->value) : std::nullopt;
}

bool knows_ends(const Evidence& evidence) {
  return std::any_of(evidence.seeds().begin(), evidence.seeds().end(), [](const auto& seed) {
    const auto snapshots = seed.snapshots();
    return std::any_of(snapshots.begin(), snapshots.end(), [](const auto& entry) {
      return entry.second.virtual_loss.has_value();
    });
  });
}

/// Splits the gap's term into the part that residuals explain and the part that was lost.
void add_gap_terms(std::vector<BoundTerm>& terms,
                   const Snapshot& now,
                   double factor,
                   const std::string& formula,
                   bool conserves) {
  const double total = factor * *now.gap_sum / *now.step_sum;
  const double lost = conserves ? 0 : now.leak_share * total;
  terms.push_back({Attribution::residual, formula, total - lost, true});
  if (!conserves) {
    terms.push_back({Attribution::leak, formula + ", lost mass", lost, true});
  }
}

}  // namespace

Bound certificate(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient, Taking::some);
  exam.lockstep_with_plain_updates();
  const double smoothness = exam.need(evidence.smoothness());
  const bool ends_known = knows_ends(evidence);
  const auto floor = ends_known ? std::nullopt : floor_of(evidence.method());
  exam.need(evidence.initial_loss());
  return exam.finish([&](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    const auto end = now.virtual_loss ? now.virtual_loss : floor;
    if (!end || !now.initial_loss || !now.noise_sum || !now.gap_sum || !now.step_sum) {
      return std::nullopt;
    }
    std::vector<BoundTerm> terms;
    terms.push_back({Attribution::optimisation,
                     now.virtual_loss ? "2(f(z_0) − f(z_T))/Ση" : "2(f(z_0) − f*)/Ση",
                     2 * (*now.initial_loss - *end) / *now.step_sum,
                     false});
    terms.push_back(
        {Attribution::noise, "L Ση²‖ḡ‖²/Ση", smoothness * *now.noise_sum / *now.step_sum, false});
    add_gap_terms(
        terms, now, smoothness * smoothness, "L² Ση‖w − z‖²/Ση", evidence.method().conserves);
    return terms;
  });
}

/// f* bounds f + (lambda/2)|u|^2 from below too.
Bound certificate_any_rule(const Evidence& evidence) {
  const RunFacts& facts = evidence.method();
  const double decay = facts.update.effective_decay;
  const bool steps_locally = facts.protocol.synchrony == Synchrony::periodic;
  Examination exam(evidence, decay == 0 ? Left::gradient : Left::decayed_gradient, Taking::some);
  exam.precondition("workers exchange gradients that begin at one model",
                    facts.protocol.synchrony == Synchrony::lockstep || steps_locally,
                    fmt::format("protocol is {}", facts.names.protocol));
  exam.unbiased_gradients_at_model();
  exam.precondition("no worker's gradient is clipped",
                    facts.update.clipped != "worker",
                    "clipped is " + facts.update.clipped);
  const bool is_plain = !steps_locally && !facts.update.has_optimisers && !facts.has_momentum() &&
                        facts.update.weight_decay == 0 && facts.update.outer_step == 1 &&
                        facts.update.clipped != "update" && !facts.update.takes_signs &&
                        facts.update.direction.empty();
  exam.precondition("the rule is more than a step along what was exchanged",
                    !is_plain,
                    is_plain
                        ? "it is not: `certificate` says the same"
                        : "momentum, decay, clipping, signs, polar factors, local or outer steps");
  const double smoothness = exam.need(evidence.smoothness()) + decay;
  if (decay != 0) {
    exam.need({"λ", decay, "exact: weight decay, relative to the gradients"});
  }
  const auto floor = floor_of(facts);
  return exam.finish([=](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    const UnperturbedSums& u = now.unperturbed;
    const auto end = u.loss ? u.loss : floor;
    if (!end || !u.initial_loss || !u.step_sum || !u.noise_sum || !u.gap_sum) {
      return std::nullopt;
    }
    const std::string l = decay == 0 ? "L" : "(L + λ)";
    return std::vector<BoundTerm>{
        {Attribution::optimisation,
         u.loss ? "2(f(u_0) − f(u_T))/Ση′" : "2(f(u_0) − f*)/Ση′",
         2 * (*u.initial_loss - *end) / *u.step_sum,
         false},
        {Attribution::noise, l + " Ση′²‖ḡ‖²/Ση′", smoothness * *u.noise_sum / *u.step_sum, false},
        {Attribution::residual,
         l + "² Ση′‖w − u‖²/Ση′",
         smoothness * smoothness * *u.gap_sum / *u.step_sum,
         true}};
  });
}

Bound convex_certificate(const Evidence& evidence) {
  Examination exam(evidence, Left::loss_gap);
  exam.lockstep_with_plain_updates();
  exam.constant_step();
  exam.convex_objective();
  const double smoothness = exam.need(evidence.smoothness());
  const double distance = exam.need(evidence.initial_distance_sq());
  const AggregateNoise noise = aggregate_noise(exam);
  const double eta = exam.step_at_most(1 / (4 * smoothness * noise.growth), "1/(4LA)");
  return exam.finish([&](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.gap_sum || !now.step_sum) {
      return std::nullopt;
    }
    std::vector<BoundTerm> terms{
        {Attribution::optimisation, "2‖w_0 − x*‖²/(ηT)", 2 * distance / *now.step_sum, false},
        {Attribution::noise, "2ησ²/P", 2 * eta * noise.variance, false}};
    add_heterogeneous_noise(terms, "2ηMζ²/P", 2 * eta * noise.from_heterogeneity);
    add_gap_terms(terms, now, 4 * smoothness, "4L mean ‖w − z‖²", evidence.method().conserves);
    return terms;
  });
}

}  // namespace residuum
