// Several theorems share these preconditions. Each says what it asks for, whether it is met, and
// what is so.

#include <fmt/format.h>

#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {

void Examination::no_momentum() {
  const MethodFacts& facts = method();
  precondition("no momentum",
               !facts.has_momentum(),
               facts.averaging.value_or(1) < 1
                   ? fmt::format("gradients enter by an average that takes {} of the newest",
                                 *facts.averaging)
                   : fmt::format("momentum is {}", facts.momentum));
}

void Examination::nothing_decays_or_is_clipped() {
  const MethodFacts& facts = method();
  precondition("no decay of weights, and neither gradients nor updates are clipped",
               facts.weight_decay == 0 && facts.clipped == "nothing",
               fmt::format("weight decay is {}, clipped is {}", facts.weight_decay, facts.clipped));
}

void Examination::no_outer_step() {
  if (method().takes_signs) {
    precondition("the model moves by the update as it is",
                 false,
                 "it moves by the signs of its entries, which follow no gradient");
  } else if (method().outer_step != 1) {
    precondition("the model moves by the update as it is",
                 false,
                 fmt::format("the outer step is {}", method().outer_step));
  }
}

void Examination::plain_updates() {
  no_momentum();
  no_outer_step();
  nothing_decays_or_is_clipped();
}

void Examination::lockstep() {
  precondition("workers exchange in lockstep",
               method().synchrony == Synchrony::lockstep,
               fmt::format("protocol is {}", method().protocol));
}

void Examination::unbiased_gradients_at_model() {
  const MethodFacts& facts = method();
  std::string detail =
      facts.full_gradients ? "gradients are full" : "sampling is " + facts.sampling;
  if (!facts.gradient_bias.empty()) {
    detail = facts.gradient_bias;
  }
  precondition("gradients are unbiased given the past",
               facts.gradient_bias.empty() && (facts.full_gradients || facts.independent_draws),
               detail);
}

void Examination::unbiased_gradients() {
  unbiased_gradients_at_model();
  if (method().has_optimisers) {
    precondition("workers hand in gradients", false, "they hand in directions of an optimiser");
  }
}

void Examination::workers_are_alike() {
  const MethodFacts& facts = method();
  precondition("every worker's gradients are those of f, in expectation",
               facts.workers == 1 || facts.workers_are_alike,
               facts.workers == 1 ? "there is one worker"
               : facts.workers_are_alike
                   ? "the workers' objectives are the same"
                   : "every worker draws from data of its own, and those that contribute more "
                     "often weigh more");
}

void Examination::versions_are_means() {
  const bool alike = method().contributions_weigh_alike;
  precondition("a version is the mean of its gradients",
               alike,
               alike ? "it is" : "gradients of workers that contribute more often weigh less");
}

void Examination::everything_is_sent() {
  precondition(
      "workers send everything", method().sends_everything, "sparsifier is " + method().sparsifier);
  whole_messages_are_applied();
}

void Examination::lockstep_with_plain_updates() {
  lockstep();
  plain_updates();
  unbiased_gradients();
}

void Examination::plain_synchronous_steps() {
  const MethodFacts& facts = method();
  lockstep_with_plain_updates();
  if (facts.in_gradient_units) {
    // Memory in gradients is memory in steps divided by eta: the same until eta changes.
    precondition("residuals in units of the step, or a constant step size",
                 facts.steps_are_constant,
                 fmt::format("units are gradients, step rule is {}", facts.step_rule));
  }
}

void Examination::constant_step() {
  precondition("constant step size",
               method().steps_are_constant,
               fmt::format("step rule is {}", method().step_rule));
}

void Examination::steps_do_not_increase() {
  precondition("step sizes do not increase",
               !method().steps_may_grow,
               fmt::format("step rule is {}", method().step_rule));
}

void Examination::convex_objective() {
  const auto& convex = method().convex;
  precondition("f is convex",
               convex.value_or(false),
               convex ? (*convex ? "it is" : "it is not") : "not known of this objective");
}

namespace {

const char* fate_of_messages(const MethodFacts& facts) {
  if (facts.applies_whole_messages) {
    return "does";
  }
  if (facts.weighs_messages) {
    return "clips or weighs what was sent";
  }
  return facts.approximates_sum ? "approximates the sum of the accumulators" : "cuts what was sent";
}

}  // namespace

void Examination::whole_messages_are_applied() {
  const MethodFacts& facts = method();
  precondition("every message is applied as it was sent",
               facts.applies_whole_messages,
               fmt::format("aggregator {} {}", facts.aggregator, fate_of_messages(facts)));
}

void Examination::estimates_are_exchanged() {
  const MethodFacts& facts = method();
  precondition("workers exchange changes of gradient estimates",
               facts.memory == Memory::estimate,
               fmt::format("{} is {}", facts.feedback, memory_text(facts.memory)));
  precondition("the model moves by the mean of the estimates",
               facts.conserves,
               facts.conserves ? "nothing of their changes is lost"
                               : "some of their changes is lost for good");
}

void Examination::full_gradients() {
  precondition("full gradients",
               method().full_gradients,
               method().full_gradients ? "gradients are full" : "gradients are drawn from batches");
}

double Examination::sparsifier_keeps_a_share() {
  const MethodFacts& facts = method();
  precondition("the sparsifier keeps a share of every accumulator",
               facts.promised_share.has_value(),
               "sparsifier is " + facts.sparsifier);
  return need({"α", facts.promised_share, "exact: the share that the sparsifier keeps"});
}

void Examination::error_feedback() {
  const MethodFacts& facts = method();
  precondition("what was not delivered is added to the next gradient",
               facts.memory == Memory::residual && facts.conserves,
               facts.memory != Memory::residual
                   ? fmt::format("{} is {}", facts.feedback, memory_text(facts.memory))
                   : fmt::format("feedback {} {}",
                                 facts.feedback,
                                 facts.conserves ? "does" : "loses some of it for good"));
}

void Examination::error_feedback_of_whole_messages() {
  whole_messages_are_applied();
  error_feedback();
}

void Examination::largest_entries_are_sent() {
  const MethodFacts& facts = method();
  precondition("workers send their k largest entries",
               facts.keeps_largest && facts.k.has_value(),
               "sparsifier is " + facts.sparsifier);
}

void Examination::contracts(const std::string& statement, double contraction, bool proven) {
  if (std::isnan(contraction)) {
    return;  // the constant is named among the missing ones
  }
  const auto below = proven ? PreconditionState::met : PreconditionState::no_violation_seen;
  precondition(
      statement,
      contraction < 1 ? below : PreconditionState::not_met,
      fmt::format("q = {:.6g}{}", contraction, proven ? "" : ", at the measured iterations"));
}

double Examination::gap_contracts_on_average() {
  const double q = need(evidence_->contraction_on_average());
  contracts("contraction q < 1, on average over the run",
            q,
            evidence_->measured_everywhere(&SeedMeasures::single_contraction));
  return q;
}

double Examination::gap_contracts_in_every_iteration() {
  if (method().selects_at_random) {
    // Single draws are no expectation; the largest of windows over all seeds estimates it.
    const double q = need(evidence_->contraction());
    if (!std::isnan(q)) {
      precondition("contraction q < 1 in every iteration",
                   PreconditionState::no_violation_seen,
                   fmt::format("q = {:.6g} of windows: the selection is random, and single draws "
                               "are no expectation",
                               q));
    }
    return q;
  }
  const double q = need(evidence_->contraction_in_every_iteration());
  contracts("contraction q < 1 in every iteration",
            q,
            evidence_->measured_everywhere(&SeedMeasures::single_contraction));
  return q;
}

double Examination::residuals_contract() {
  const double q = need(evidence_->worker_contraction());
  contracts("contraction q < 1 of the workers' residuals, on average over the run",
            q,
            evidence_->worker_contraction_is_known());
  return q;
}

double Examination::step_at_most(double limit, const std::string& formula) {
  const Constant step = evidence_->step_size();
  const double eta = need(step);
  if (std::isnan(limit) || std::isnan(eta)) {
    return eta;  // the missing constant is named among the constants
  }
  // A step chosen to be the limit may miss it by rounding.
  constexpr double kRounding = 1e-12;
  const bool below = eta <= limit * (1 + kRounding);
  const auto state =
      method().smoothness ? PreconditionState::met : PreconditionState::no_violation_seen;
  precondition(fmt::format("η ≤ {}", formula),
               below ? state : PreconditionState::not_met,
               fmt::format("η = {:.6g}, limit {:.6g}{}",
                           eta,
                           limit,
                           method().smoothness ? "" : " with an L that may be larger"));
  return eta;
}

}  // namespace residuum
