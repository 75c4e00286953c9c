// The tight theorems of error feedback (core/schedules/tight_rate.h): at the step eta*
//   V_{t+1} <= rho* V_t
// in every iteration, with the V of assumptions/probes/lyapunov.cc. Both are pathwise, so that one
// run decides. EF14's proof takes each f_p to be stationary at the common x*. Without that it is
// false: with minimisers of their own V grows up to tenfold in one iteration.

#include "assumptions/theorems/tight.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/theorems/examination.h"

namespace residuum {
namespace {

void smooth_steps_of_whole_messages(Examination& exam) {
  exam.lockstep_with_plain_updates();
  exam.constant_step();
  exam.full_gradients();
  exam.whole_messages_are_applied();
}

/// The share that each message keeps of its accumulator, for each draw and not in expectation.
double need_pathwise_share(Examination& exam) {
  const RunFacts& facts = exam.method();
  const double share = exam.sparsifier_keeps_a_share();
  exam.precondition("the share is kept in every iteration, not in expectation",
                    facts.sparsifier.pathwise,
                    facts.sparsifier.pathwise ? "it is" : "single draws may keep less");
  exam.precondition("messages leave something out",
                    !facts.sends_everything,
                    facts.sends_everything ? "they are whole accumulators" : "they do");
  return share;
}

void minimizer_is_common(Examination& exam) {
  exam.precondition("x* minimises every worker's objective",
                    exam.method().gradients.shares_minimizer,
                    exam.method().gradients.shares_minimizer
                        ? "it does"
                        : "workers may have minimisers of their own");
}

Bound tight_bound(Examination& exam) {
  CompressedProblem problem;
  problem.smoothness = exam.need(exam.evidence().largest_worker_smoothness());
  problem.strong_convexity = exam.need(exam.evidence().worker_strong_convexity());
  problem.contraction = need_pathwise_share(exam);
  exam.step_is(tight_step(problem), "η* = (2/(L + μ)) (1 − s)/(1 + s), s = √(1 − α)");
  return exam.finish_in_every_iteration(tight_rate(problem));
}

}  // namespace

Bound tight_ef14(const Evidence& evidence) {
  Examination exam(evidence, Left::lyapunov);
  smooth_steps_of_whole_messages(exam);
  exam.error_feedback();
  minimizer_is_common(exam);
  return tight_bound(exam);
}

Bound tight_ef21(const Evidence& evidence) {
  Examination exam(evidence, Left::lyapunov);
  smooth_steps_of_whole_messages(exam);
  exam.estimates_are_exchanged();
  return tight_bound(exam);
}

std::optional<ContractionRate> tight_linear_rate(const CompressedProblem& problem,
                                                 std::optional<double> step) {
  const double best = tight_step(problem);
  constexpr double kRounding = 1e-9;
  if (step && !(std::abs(*step - best) <= kRounding * best)) {
    return std::nullopt;
  }
  return ContractionRate{.step = best, .rate = tight_rate(problem), .of = "V"};
}

std::optional<CompressedProblem> compressed_problem_of(const RunFacts& facts) {
  if (!facts.objective.worker_smoothness_max || !facts.objective.worker_strong_convexity ||
      !facts.sparsifier.contraction) {
    return std::nullopt;
  }
  const CompressedProblem problem{
      .smoothness = facts.objective.worker_smoothness_max->value,
      .strong_convexity = facts.objective.worker_strong_convexity->value,
      .contraction = *facts.sparsifier.contraction};
  return problem.is_valid() && problem.contraction < 1 ? std::optional(problem) : std::nullopt;
}

std::optional<double> measured_lyapunov_factor(const Evidence& evidence) {
  double change = 0;
  double iterations = 0;
  for (const auto& seed : evidence.seeds()) {
    change += seed.measures().lyapunov_fall.change;
    iterations += seed.measures().lyapunov_fall.iterations;
  }
  return iterations > 0 ? std::optional(std::exp(change / iterations)) : std::nullopt;
}

std::optional<LyapunovFacts> lyapunov_facts(const RunFacts& facts, double step) {
  const auto problem = compressed_problem_of(facts);
  const bool has_state =
      facts.feedback.memory == Memory::residual || facts.feedback.memory == Memory::estimate;
  if (!problem || !has_state || facts.protocol.synchrony != Synchrony::lockstep ||
      facts.protocol.participants || facts.feedback.averaging.value_or(1) < 1) {
    return std::nullopt;
  }
  LyapunovFacts known{
      .root = problem->root(), .smoothness = problem->smoothness, .rate = std::nullopt};
  SeedEvidence seed(1);
  Row row;
  row.set(Column::step_size, step);
  seed.add(row);
  Evidence evidence(facts);
  evidence.add(std::move(seed));
  const bool applies = tight_ef14(evidence).verdict != BoundVerdict::not_applicable ||
                       tight_ef21(evidence).verdict != BoundVerdict::not_applicable;
  if (applies) {
    known.rate = tight_rate(*problem);
  }
  return known;
}

namespace {

void exchange_in_time(Examination& exam, bool local_steps) {
  if (!local_steps) {
    exam.lockstep();
    return;
  }
  const Synchrony synchrony = exam.method().protocol.synchrony;
  exam.precondition("workers exchange in lockstep or after local steps",
                    synchrony == Synchrony::lockstep || synchrony == Synchrony::periodic,
                    fmt::format("protocol is {}", exam.method().names.protocol));
}

void memory_is(Examination& exam, Memory memory) {
  if (memory == Memory::residual) {
    exam.error_feedback();
  } else if (memory == Memory::estimate) {
    exam.estimates_are_exchanged();
  } else {
    const RunFacts& facts = exam.method();
    exam.precondition(
        fmt::format("the memory is {}", memory_text(memory)),
        facts.feedback.memory == memory,
        fmt::format("{} is {}", facts.names.feedback, memory_text(facts.feedback.memory)));
  }
}

}  // namespace

std::vector<Precondition> unmet_by_worst_case(const RunFacts& facts,
                                              const WorstCaseDemands& demands) {
  const Evidence evidence(facts);
  Examination exam(evidence, Left::lyapunov);
  exchange_in_time(exam, demands.local_steps);
  if (!demands.momentum) {
    exam.no_momentum();
  }
  exam.no_outer_step();
  exam.nothing_decays_or_is_clipped();
  exam.unbiased_gradients();
  exam.full_gradients();
  if (demands.compresses) {
    exam.whole_messages_are_applied();
    need_pathwise_share(exam);
  }
  if (demands.memory) {
    memory_is(exam, *demands.memory);
  }
  if (demands.common_minimizer) {
    minimizer_is_common(exam);
  }
  return unmet_of(exam.finish_in_every_iteration(1));
}

}  // namespace residuum
