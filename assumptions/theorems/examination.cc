#include "assumptions/theorems/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "assumptions/estimators/intervals.h"
#include "assumptions/theorems/tight.h"

namespace residuum {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

std::string_view left_text(Left left) {
  switch (left) {
    case Left::gradient:
      return "Σ η ‖∇f(w)‖² / Σ η";
    case Left::decayed_gradient:
      return "Σ η ‖∇f(w) + λw‖² / Σ η";
    case Left::loss_gap:
      return "Σ η (f(w) − f*) / Σ η";
    case Left::averaged_model:
      return "f(weighted average of w) − f*";
    case Left::lyapunov:
      return "largest V_{t+1}/V_t";
    case Left::last_model:
      break;
  }
  return "f(w_T) − f*";
}

/// Names what a study must ask for so that the left side is measured.
std::string_view left_cure(Left left) {
  switch (left) {
    case Left::gradient:
    case Left::decayed_gradient:
      return "probes.evaluate, or probe noise; for the certificates probe certificate";
    case Left::averaged_model:
      return "probe average, where f* is known";
    case Left::lyapunov:
      return "probe lyapunov";
    case Left::loss_gap:
    case Left::last_model:
      break;
  }
  return "probes.evaluate, where f* is known";
}

/// There is no interval either where the spread of the seeds is beyond float64.
std::optional<Interval> finite_interval(const std::vector<double>& values) {
  auto interval = mean_interval(values);
  if (interval && !(std::isfinite(interval->low) && std::isfinite(interval->high))) {
    interval.reset();
  }
  return interval;
}

/// Prefers the average that was measured at every iteration, first by the full gradient, then by
/// half batches; else it takes what there is.
std::optional<Average> more_complete(const std::optional<Average>& full,
                                     const std::optional<Average>& split,
                                     std::uint64_t iterations) {
  const bool full_is_complete = full && full->measured == iterations;
  const bool split_is_complete = split && split->measured == iterations;
  return (full_is_complete || !split_is_complete) && full ? full : split;
}

/// Makes an average of a single point, which is measured or is not.
std::optional<Average> at_one_point(const std::optional<double>& value, std::uint64_t iterations) {
  return value ? std::optional(Average{.value = *value, .measured = iterations}) : std::nullopt;
}

double sum(const std::vector<BoundTerm>& terms) {
  return std::accumulate(terms.begin(), terms.end(), 0.0, [](double total, const BoundTerm& term) {
    return total + term.value;
  });
}

}  // namespace

/// Both sides of every seed at one horizon.
struct Examination::Sides {
  double iterations = 0;
  std::vector<double> lhs;
  std::vector<double> rhs;
  std::vector<BoundTerm> terms;  // mean over the seeds
  std::uint64_t measured = 0;    // the fewest iterations a left side is an average of

  void add(const Average& left, const std::vector<BoundTerm>& parts);
};

Examination::Examination(const Evidence& evidence, Left left, Taking taking)
    : evidence_(&evidence), left_(left) {
  bound_.left = left_text(left);
  bound_.seeds = evidence.seeds().size();
  if (taking == Taking::all) {
    const char* statement = "all workers take part in every version";
    ask(statement);
    if (method().protocol.participants) {
      precondition(statement,
                   false,
                   fmt::format("{} of {} do", *method().protocol.participants, method().workers));
    }
  }
}

void Examination::ask(const std::string& statement) {
  if (std::find(bound_.asks.begin(), bound_.asks.end(), statement) == bound_.asks.end()) {
    bound_.asks.push_back(statement);
  }
}

void Examination::precondition(std::string statement, bool met, std::string detail) {
  precondition(std::move(statement),
               met ? PreconditionState::met : PreconditionState::not_met,
               std::move(detail));
}

void Examination::precondition(std::string statement, PreconditionState state, std::string detail) {
  ask(statement);
  bound_.preconditions.push_back(
      {.statement = std::move(statement), .state = state, .detail = std::move(detail)});
}

double Examination::need(const Constant& constant) {
  bound_.constants.push_back(constant);
  return constant.value.value_or(kNotKnown);
}

std::pair<double, double> Examination::need_both(const std::vector<Constant>& constants) {
  const double first = need(constants.at(0));
  return {first, need(constants.at(1))};
}

bool Examination::met() const {
  return std::all_of(
      bound_.preconditions.begin(), bound_.preconditions.end(), [](const Precondition& one) {
        return one.state != PreconditionState::not_met;
      });
}

void Examination::missing_reason(const std::string& what) {
  bound_.reason += (bound_.reason.empty() ? "" : "; ") + what;
}

void Examination::remark(const std::string& text) {
  bound_.remarks += (bound_.remarks.empty() ? "" : "; ") + text;
}

/// Late gradients, and those of workers with models of their own or with a shift of the model, say
/// nothing of grad f at the model that the theorems are about.
bool Examination::half_batches_are_at_the_model() const {
  return !method().shift_contraction && (method().protocol.synchrony == Synchrony::lockstep ||
                                         method().protocol.synchrony == Synchrony::periodic);
}

std::optional<Average> Examination::left_at(const Snapshot& snapshot) const {
  switch (left_) {
    case Left::loss_gap:
      return snapshot.loss_gap;
    case Left::lyapunov:
      return std::nullopt;  // it is not one of snapshots
    case Left::averaged_model:
      return at_one_point(snapshot.averaged_gap, snapshot.iterations);
    case Left::last_model:
      return at_one_point(snapshot.last_gap, snapshot.iterations);
    case Left::decayed_gradient:
      return more_complete(
          snapshot.decayed_gradient, snapshot.split_decayed_gradient, snapshot.iterations);
    case Left::gradient:
      break;
  }
  return half_batches_are_at_the_model()
             ? more_complete(snapshot.gradient, snapshot.split_gradient, snapshot.iterations)
             : snapshot.gradient;
}

/// Adds the sides of one more seed.
void Examination::Sides::add(const Average& left, const std::vector<BoundTerm>& parts) {
  if (lhs.empty()) {
    terms = parts;
    measured = left.measured;
  } else {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      terms[i].value += parts[i].value;
    }
  }
  measured = std::min(measured, left.measured);
  lhs.push_back(left.value);
  rhs.push_back(sum(parts));
}

/// The horizons at which every seed has both sides.
std::vector<Examination::Sides> Examination::evaluate(const Terms& terms) const {
  std::map<std::uint64_t, Sides> points;
  for (const auto& seed : evidence_->seeds()) {
    for (const auto& [iterations, snapshot] : seed.snapshots()) {
      const auto lhs = left_at(snapshot);
      const auto parts = lhs ? terms(snapshot) : std::nullopt;
      if (parts) {
        points[iterations].add(*lhs, *parts);
      }
    }
  }
  const std::size_t seeds = evidence_->seeds().size();
  std::vector<Sides> shared;
  for (auto& [iterations, point] : points) {
    if (point.lhs.size() == seeds) {
      point.iterations = static_cast<double>(iterations);
      for (auto& term : point.terms) {
        term.value /= static_cast<double>(seeds);
      }
      shared.push_back(std::move(point));
    }
  }
  return shared;
}

void Examination::remark_reservations(const Sides& last) {
  if (is_sampled(last)) {
    remark(fmt::format("left side sampled at {} of {} iterations", last.measured, last.iterations));
  }
  const bool uses_smoothness = std::any_of(bound_.constants.begin(),
                                           bound_.constants.end(),
                                           [](const Constant& one) { return one.symbol == "L"; });
  if (uses_smoothness && !method().objective.smoothness) {
    remark("L is the largest ratio seen and may be larger: what holds holds, what fails may not");
  }
  const auto early = std::count_if(evidence_->seeds().begin(),
                                   evidence_->seeds().end(),
                                   [](const SeedEvidence& seed) { return seed.ended_early(); });
  if (early > 0) {
    remark(fmt::format("{} of {} seeds diverged; judged over the first {} iterations",
                       early,
                       bound_.seeds,
                       last.iterations));
  }
}

/// Between two looks the left side may be anything, so a sampled one decides nothing.
bool Examination::is_sampled(const Sides& last) {
  return static_cast<double>(last.measured) < last.iterations;
}

std::string_view Examination::cure_of_sampling() const {
  return left_ == Left::loss_gap || !half_batches_are_at_the_model()
             ? "probes.evaluate"
             : "probes.evaluate or probes.noise_every";
}

/// A left side below its bound up to where some run ended says nothing of that run.
void Examination::hold_nothing_with_reservation() {
  const std::string reservation = evidence_->reservation();
  if (!reservation.empty() && bound_.verdict == BoundVerdict::holds) {
    bound_.verdict = BoundVerdict::undecided;
    bound_.reason = reservation;
  }
  if (!reservation.empty()) {
    bound_.open_key = {};  // no key of the study decides it
  }
}

void Examination::judge(const Sides& last) {
  // Some bounds are met with equality. The model is rounded in every iteration, to 6e-8 of itself
  // in float32, and so are the terms of the left side.
  constexpr double kRounding = 1e-6;
  std::vector<double> excess;
  std::vector<double> magnitudes;
  for (std::size_t i = 0; i < last.lhs.size(); ++i) {
    excess.push_back(last.lhs[i] - last.rhs[i]);
    magnitudes.push_back(std::max(std::abs(last.lhs[i]), std::abs(last.rhs[i])));
  }
  const double rounding = kRounding * plain_mean(magnitudes);
  if (is_sampled(last)) {
    bound_.verdict = BoundVerdict::undecided;
    bound_.reason = fmt::format("the left side was measured at {} of {} iterations: set {} to 1",
                                last.measured,
                                last.iterations,
                                cure_of_sampling());
    bound_.excess = mean_interval(excess);
    bound_.open_key = "probes.evaluate";
    return;
  }
  if (method().deterministic) {
    remark("nothing in the run is random: no interval is needed");
    bound_.seeds = 1;  // however many a study names
    bound_.verdict = plain_mean(excess) <= rounding ? BoundVerdict::holds : BoundVerdict::fails;
    return;
  }
  bound_.excess = finite_interval(excess);
  if (!bound_.excess) {
    bound_.verdict = BoundVerdict::undecided;
    bound_.reason = excess.size() < 2
                        ? "one seed: a bound in expectation takes an interval over seeds"
                        : "a side of some seed is not finite";
    bound_.open_key = excess.size() < 2 ? "seeds" : "";
    return;
  }
  bound_.p_value = chance_above(excess, rounding);
  if (bound_.excess->high <= rounding) {
    bound_.verdict = BoundVerdict::holds;
  } else {
    bound_.verdict = bound_.excess->low > rounding ? BoundVerdict::fails : BoundVerdict::marginal;
  }
}

/// With eta = theta/sqrt(T) the fast terms fall by 1/sqrt(T) against the leading ones.
void Examination::find_horizon(double iterations) {
  if (!has_horizon_) {
    return;
  }
  if (horizon_) {
    bound_.horizon = std::max(1.0, *horizon_);
    return;
  }
  double fast = 0;
  double slow = 0;
  for (const auto& term : bound_.terms) {
    (term.fast ? fast : slow) += term.value;
  }
  if (fast > 0 && slow > 0) {
    bound_.horizon = std::max(1.0, iterations * std::pow(fast / slow, horizon_power_));
  }
}

void Examination::fill(const std::vector<Sides>& points) {
  for (const auto& point : points) {
    bound_.curve.push_back({.iterations = point.iterations,
                            .lhs = plain_mean(point.lhs),
                            .rhs = plain_mean(point.rhs)});
  }
  const Sides& last = points.back();
  bound_.iterations = last.iterations;
  bound_.lhs = plain_mean(last.lhs);
  bound_.rhs = plain_mean(last.rhs);
  if (*bound_.lhs > 0) {
    bound_.slack = *bound_.rhs / *bound_.lhs;
  }
  bound_.terms = last.terms;
  remark_reservations(last);
  find_horizon(last.iterations);
}

/// Says why there is no verdict, where preconditions or constants decide that.
bool Examination::is_decided_before_measuring() {
  if (!met()) {
    bound_.verdict = BoundVerdict::not_applicable;
    for (const auto& one : bound_.preconditions) {
      if (one.state == PreconditionState::not_met) {
        missing_reason(fmt::format("{}: {}", one.statement, one.detail));
      }
    }
    return true;
  }
  for (const auto& constant : bound_.constants) {
    if (!constant.value) {
      missing_reason(fmt::format("{}: {}", constant.symbol, constant.origin));
    }
  }
  return !bound_.reason.empty();
}

Bound Examination::finish(const Terms& terms) {
  if (is_decided_before_measuring()) {
    bound_.rates.reset();  // no rate is promised
    return bound_;
  }
  const auto points = evaluate(terms);
  if (points.empty()) {
    bound_.reason = evidence_->seeds().empty()
                        ? "no run has left measurements"
                        : fmt::format("not measured from the first iteration on: {} ({})",
                                      bound_.left,
                                      left_cure(left_));
    return bound_;
  }
  fill(points);
  measure_rate(points.back().iterations);
  judge(points.back());
  hold_nothing_with_reservation();
  return bound_;
}

/// A bound is compared with the tight rate at the same constants alone: f may be better conditioned
/// than the workers' f_p, of which the tight theory speaks.
void Examination::has_rate(double rate) {
  const RunFacts& facts = method();
  const auto are_equal = [](const auto& of_f, const auto& of_workers) {
    constexpr double kRounding = 1e-9;
    return of_f && of_workers &&
           std::abs(of_f->value - of_workers->value) <= kRounding * std::abs(of_f->value);
  };
  const auto problem = compressed_problem_of(facts);
  const bool is_comparable =
      problem && are_equal(facts.objective.smoothness, facts.objective.worker_smoothness_max) &&
      are_equal(facts.objective.strong_convexity, facts.objective.worker_strong_convexity);
  bound_.rates =
      RateSlack{.bound = rate,
                .tight = is_comparable ? std::optional(tight_rate(*problem)) : std::nullopt,
                .measured = std::nullopt};
}

/// The right side is C rate^T, and the left one C measured^T.
void Examination::measure_rate(double iterations) {
  if (bound_.rates && bound_.slack && *bound_.lhs > 0 && *bound_.rhs > 0 && iterations > 0) {
    bound_.rates->measured = bound_.rates->bound * std::pow(*bound_.slack, -1 / iterations);
  }
}

void Examination::judge_single_iterations(double rate) {
  constexpr double kRounding = 1e-9;
  std::uint64_t rows = 0;
  std::uint64_t iterations = 0;
  std::uint64_t above = 0;
  std::uint64_t where = 0;
  for (const auto& seed : evidence_->seeds()) {
    const SeedMeasures& measures = seed.measures();
    const Singles singles = measures.single_lyapunov.above(rate * (1 + kRounding));
    rows += measures.lyapunov_rows;
    iterations += seed.iterations();
    above += singles.violations;
    if (singles.largest && !(bound_.lhs && *bound_.lhs >= *singles.largest)) {
      bound_.lhs = singles.largest;
      where = singles.where;
    }
  }
  bound_.verdict = above > 0 ? BoundVerdict::fails : BoundVerdict::holds;
  remark(fmt::format("V was seen in {} of {} iterations; largest factor at iteration {}",
                     rows,
                     iterations,
                     where));
  if (above > 0) {
    remark(fmt::format("{} iterations are above the rate", above));
  } else if (rows < iterations) {
    bound_.verdict = BoundVerdict::undecided;
    bound_.reason =
        fmt::format("V was seen in {} of {} iterations: set probes.every to 1", rows, iterations);
    bound_.open_key = "probes.every";
  }
}

Bound Examination::finish_in_every_iteration(double rate) {
  if (is_decided_before_measuring()) {
    return bound_;
  }
  std::uint64_t pairs = 0;
  for (const auto& seed : evidence_->seeds()) {
    pairs += seed.measures().lyapunov_pairs;
    bound_.iterations =
        std::max(bound_.iterations.value_or(0), static_cast<double>(seed.iterations()));
  }
  if (pairs == 0) {
    bound_.iterations.reset();
    bound_.reason =
        evidence_->seeds().empty()
            ? "no run has left measurements"
            : fmt::format(
                  "not measured, or rounding alone: {} ({})", bound_.left, left_cure(left_));
    return bound_;
  }
  judge_single_iterations(rate);
  bound_.rhs = rate;
  if (*bound_.lhs > 0) {
    bound_.slack = rate / *bound_.lhs;
  }
  bound_.rates =
      RateSlack{.bound = rate, .tight = rate, .measured = measured_lyapunov_factor(*evidence_)};
  bound_.terms = {{Attribution::compression, "ρ*", rate, false}};
  hold_nothing_with_reservation();
  return bound_;
}

void control_false_alarms(std::span<Bound* const> bounds) {
  std::vector<Bound*> tested;
  std::vector<double> p_values;
  for (Bound* bound : bounds) {
    if (bound->p_value) {
      tested.push_back(bound);
      p_values.push_back(*bound->p_value);
    }
  }
  const auto rejected = holm_rejects(p_values, (1 - kConfidence) / 2);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    if (tested[i]->verdict == BoundVerdict::fails && !rejected[i]) {
      tested[i]->verdict = BoundVerdict::marginal;
      tested[i]->remarks += fmt::format(
          "{}fails by itself (p = {:.2g}), not among the {} bounds of this study (Holm)",
          tested[i]->remarks.empty() ? "" : "; ",
          p_values[i],
          tested.size());
    }
  }
}

AggregateNoise aggregate_noise(Examination& exam, bool needs_similarity) {
  const double workers = exam.method().workers;
  const auto [m, sigma_sq] = exam.need_both(exam.evidence().noise_growth());
  AggregateNoise noise;
  noise.noise_growth = m;
  noise.worker_variance = sigma_sq;
  noise.variance = sigma_sq / workers;
  if (needs_similarity || m != 0) {
    std::tie(noise.similarity, noise.spread) = exam.need_both(exam.evidence().similarity());
  }
  noise.growth = 1 + m * (1 + noise.similarity) / workers;
  noise.from_heterogeneity = m * noise.spread / workers;
  return noise;
}

void add_heterogeneous_noise(std::vector<BoundTerm>& terms,
                             const std::string& formula,
                             double value) {
  if (value > 0) {
    terms.push_back({Attribution::heterogeneity, formula, value, false});
  }
}

// --- Preconditions that several theorems share ---------------------------------------------------
// Several theorems share these preconditions. Each gives its statement, whether it is met, and the
// fact behind that.

void Examination::no_momentum() {
  const RunFacts& facts = method();
  precondition("no momentum",
               !facts.has_momentum(),
               facts.feedback.averaging.value_or(1) < 1
                   ? fmt::format("gradients enter by an average that takes {} of the newest",
                                 *facts.feedback.averaging)
                   : fmt::format("momentum is {}", facts.update.momentum));
}

void Examination::nothing_decays_or_is_clipped() {
  const RunFacts& facts = method();
  precondition(
      "no decay of weights, and neither gradients nor updates are clipped",
      facts.update.weight_decay == 0 && facts.update.clipped == "nothing",
      fmt::format(
          "weight decay is {}, clipped is {}", facts.update.weight_decay, facts.update.clipped));
}

void Examination::no_outer_step() {
  const char* statement = "the model moves by the update as it is";
  ask(statement);
  if (method().update.takes_signs) {
    precondition(
        statement, false, "it moves by the signs of its entries, which follow no gradient");
  } else if (!method().update.direction.empty()) {
    precondition(
        statement,
        false,
        fmt::format("it moves by {}, which follow no gradient", method().update.direction));
  } else if (method().update.outer_step != 1) {
    precondition(statement, false, fmt::format("the outer step is {}", method().update.outer_step));
  }
}

void Examination::plain_updates() {
  no_momentum();
  no_outer_step();
  nothing_decays_or_is_clipped();
}

void Examination::lockstep() {
  precondition("workers exchange in lockstep",
               method().protocol.synchrony == Synchrony::lockstep,
               fmt::format("protocol is {}", method().names.protocol));
}

void Examination::unbiased_gradients_at_model() {
  unbiased_draws();
  const char* statement = "gradients are taken at the model that the update moves";
  ask(statement);
  if (method().shift_contraction) {
    precondition(statement,
                 false,
                 "they are taken at its shift, the sum of the compressed changes that a server has "
                 "sent");
  }
}

void Examination::unbiased_draws() {
  const RunFacts& facts = method();
  std::string detail =
      facts.gradients.full ? "gradients are full" : "sampling is " + facts.names.sampling;
  if (!facts.objective.gradient_bias.empty()) {
    detail = facts.objective.gradient_bias;
  }
  precondition("gradients are unbiased given the past",
               facts.objective.gradient_bias.empty() &&
                   (facts.gradients.full || facts.gradients.independent_draws),
               detail);
}

void Examination::unbiased_gradients() {
  unbiased_gradients_at_model();
  workers_hand_in_gradients();
}

void Examination::workers_hand_in_gradients() {
  const char* statement = "workers hand in gradients";
  ask(statement);
  if (method().update.has_optimisers) {
    precondition(statement, false, "they hand in directions of an optimiser");
  }
}

void Examination::workers_are_alike() {
  const RunFacts& facts = method();
  precondition("every worker's gradients are those of f, in expectation",
               facts.workers == 1 || facts.gradients.workers_alike || facts.protocol.in_rounds,
               facts.workers == 1              ? "there is one worker"
               : facts.gradients.workers_alike ? "the workers' objectives are the same"
               : facts.protocol.in_rounds
                   ? "a version has one gradient of each worker, all taken at one model, and their "
                     "mean is one of f"
                   : "every worker draws from data of its own, and those that contribute more "
                     "often weigh more");
}

void Examination::versions_are_means() {
  const bool alike = method().protocol.contributions_weigh_alike;
  precondition("a version is the mean of its gradients",
               alike,
               alike ? "it is" : "gradients of workers that contribute more often weigh less");
}

void Examination::everything_is_sent() {
  precondition("workers send everything",
               method().sends_everything,
               "sparsifier is " + method().names.sparsifier);
  whole_messages_are_applied();
}

void Examination::lockstep_with_plain_updates() {
  lockstep();
  const char* statement = "z moves by gradients at the model";
  ask(statement);
  if (method().protocol.participants && method().feedback.memory == Memory::estimate) {
    precondition(
        statement, false, "the estimates of absent workers follow gradients of earlier versions");
  }
  plain_updates();
  unbiased_gradients();
}

void Examination::plain_synchronous_steps() {
  const RunFacts& facts = method();
  lockstep_with_plain_updates();
  const char* statement = "residuals in units of the step, or a constant step size";
  ask(statement);
  if (facts.feedback.in_gradient_units) {
    // Memory in gradients is memory in steps divided by eta: the same until eta changes.
    precondition(statement,
                 facts.step.constant,
                 fmt::format("units are gradients, step rule is {}", facts.names.step_rule));
  }
}

void Examination::constant_step() {
  precondition("constant step size",
               method().step.constant,
               fmt::format("step rule is {}", method().names.step_rule));
}

void Examination::steps_do_not_increase() {
  precondition("step sizes do not increase",
               !method().step.may_grow,
               fmt::format("step rule is {}", method().names.step_rule));
}

void Examination::convex_objective() {
  const auto& convex = method().objective.convex;
  precondition("f is convex",
               convex.value_or(false),
               convex ? (*convex ? "it is" : "it is not") : "not known of this objective");
}

namespace {

const char* use_of_messages(const RunFacts& facts) {
  if (facts.aggregator.applies_whole_messages) {
    return "does";
  }
  if (facts.aggregator.weighs_messages) {
    return "clips or weighs what was sent";
  }
  return facts.aggregator.approximates_sum ? "approximates the sum of the accumulators"
                                           : "cuts what was sent";
}

}  // namespace

void Examination::whole_messages_are_applied() {
  const RunFacts& facts = method();
  precondition("every message is applied as it was sent",
               facts.aggregator.applies_whole_messages,
               fmt::format("aggregator {} {}", facts.names.aggregator, use_of_messages(facts)));
}

void Examination::estimates_are_exchanged() {
  const RunFacts& facts = method();
  precondition("workers exchange changes of gradient estimates",
               facts.feedback.memory == Memory::estimate,
               fmt::format("{} is {}", facts.names.feedback, memory_text(facts.feedback.memory)));
  precondition("the model moves by the mean of the estimates",
               facts.conserves,
               facts.conserves ? "nothing of their changes is lost"
                               : "some of their changes is lost for good");
}

void Examination::full_gradients() {
  precondition("full gradients",
               method().gradients.full,
               method().gradients.full ? "gradients are full" : "gradients are drawn from batches");
}

double Examination::model_is_shifted() {
  const auto share = method().shift_contraction;
  precondition("a server sends compressed changes of the model",
               share.has_value(),
               share ? "it does" : "workers have the model itself");
  return need({"α", share, "exact: k/d of the changes that the server sends"});
}

double Examination::sparsifier_keeps_a_share() {
  const RunFacts& facts = method();
  precondition("the sparsifier keeps a share of every accumulator",
               facts.sparsifier.contraction.has_value(),
               "sparsifier is " + facts.names.sparsifier);
  return need({"α",
               facts.sparsifier.contraction,
               facts.sparsifier.claimed
                   ? "claimed by the study: the share that the sparsifier keeps"
                   : "exact: the share that the sparsifier keeps"});
}

void Examination::error_feedback() {
  const RunFacts& facts = method();
  precondition(
      "what was not applied is added to the next gradient",
      facts.feedback.memory == Memory::residual && facts.conserves,
      facts.feedback.memory != Memory::residual
          ? fmt::format("{} is {}", facts.names.feedback, memory_text(facts.feedback.memory))
          : fmt::format("feedback {} {}",
                        facts.names.feedback,
                        facts.conserves ? "does" : "loses some of it for good"));
}

void Examination::error_feedback_of_whole_messages() {
  whole_messages_are_applied();
  error_feedback();
}

void Examination::largest_entries_are_sent() {
  const RunFacts& facts = method();
  precondition("workers send their k largest entries",
               facts.sparsifier.keeps_largest && facts.k.has_value(),
               "sparsifier is " + facts.names.sparsifier);
}

void Examination::contracts(const std::string& statement, double contraction, bool proven) {
  ask(statement);
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
  const char* statement = "contraction q < 1 in every iteration";
  ask(statement);
  if (!method().sparsifier.deterministic) {
    // Single draws are no expectation; the largest of windows over all seeds estimates it.
    const double q = need(evidence_->contraction());
    if (!std::isnan(q)) {
      precondition(statement,
                   PreconditionState::no_violation_seen,
                   fmt::format("q = {:.6g} of windows: the selection is random, and single draws "
                               "are no expectation",
                               q));
    }
    return q;
  }
  const double q = need(evidence_->contraction_in_every_iteration());
  contracts(statement, q, evidence_->measured_everywhere(&SeedMeasures::single_contraction));
  return q;
}

double Examination::residuals_contract() {
  const double q = need(evidence_->worker_contraction());
  contracts("contraction q < 1 of the workers' residuals, on average over the run",
            q,
            evidence_->worker_contraction_is_known());
  return q;
}

double Examination::step_is(double value, const std::string& formula) {
  const std::string statement = fmt::format("η = {}", formula);
  ask(statement);
  const double eta = need(evidence_->step_size());
  if (std::isnan(value) || std::isnan(eta)) {
    return eta;  // the missing constant is named among the constants
  }
  constexpr double kRounding = 1e-9;
  precondition(statement,
               std::abs(eta - value) <= kRounding * value,
               fmt::format("η = {:.10g}, η* = {:.10g}", eta, value));
  return eta;
}

double Examination::step_at_most(double limit, const std::string& formula) {
  const std::string statement = fmt::format("η ≤ {}", formula);
  ask(statement);
  const Constant step = evidence_->step_size();
  const double eta = need(step);
  if (std::isnan(limit) || std::isnan(eta)) {
    return eta;  // the missing constant is named among the constants
  }
  // A step chosen to be the limit may miss it by rounding.
  constexpr double kRounding = 1e-12;
  const bool below = eta <= limit * (1 + kRounding);
  const auto state =
      method().objective.smoothness ? PreconditionState::met : PreconditionState::no_violation_seen;
  precondition(statement,
               below ? state : PreconditionState::not_met,
               fmt::format("η = {:.6g}, limit {:.6g}{}",
                           eta,
                           limit,
                           method().objective.smoothness ? "" : " with an L that may be larger"));
  return eta;
}

// These theorems are about dense gradients that are exchanged at every iteration or only now and
// then; late.cc has those about late gradients, gossip.cc those about gossip. A protocol has the
// theorems that were made for it: lockstep runs are judged by `bsp` alone, although the others hold
// for them with H = 1 and tau = 0.
//
// Local SGD (Stich, ICLR 2019; derived again, because the constants differ from paper to paper).
// Let x_s be the mean of the workers' models after s gradients of each, and let them exchange at
// every H-th s. If f is L-smooth, every f_p is L_p-smooth and eta <= 1/L, then
//   E f(x_{s+1}) <= E f(x_s) - (eta/2) E|grad f(x_s)|^2 + L eta^2 sigma^2/(2P)
//                   + (eta/2) E|grad f(x_s) - mean grad f_p(x^p_s)|^2,
// and the last norm is at most L_max^2 mean |x_s - x^p_s|^2 <= L_max^2 eta^2 (H-1)^2 G^2, because
// x^p and x part at an exchange and move apart by at most H - 1 gradients of E|G^p|^2 <= G^2.
// Summed over R H values of s, and with all terms of the left side dropped but those at the
// exchanges, where f is evaluated, the mean over the R exchanges is
//   X <= 2 Delta/(eta R) + H (L eta sigma^2/P + L_max^2 eta^2 (H-1)^2 G^2).

DenseConstants need_dense_constants(Examination& exam) {
  exam.plain_updates();
  exam.unbiased_gradients();
  exam.constant_step();
  exam.everything_is_sent();
  DenseConstants constants;
  constants.smoothness = exam.need(exam.evidence().smoothness());
  constants.gap = exam.need(exam.evidence().initial_gap());
  constants.variance = exam.need(exam.evidence().noise_variance());
  return constants;
}

namespace {

const char* protocol_statement(Synchrony synchrony) {
  switch (synchrony) {
    case Synchrony::lockstep:
      return "workers exchange in lockstep";
    case Synchrony::periodic:
      return "workers exchange after local steps";
    case Synchrony::late:
      return "versions are made of gradients that may be late";
    case Synchrony::neighbours:
      break;
  }
  return "workers exchange with their neighbours in a graph";
}

}  // namespace

void protocol_is(Examination& exam, Synchrony synchrony) {
  exam.precondition(protocol_statement(synchrony),
                    exam.method().protocol.synchrony == synchrony,
                    "protocol is " + exam.method().names.protocol);
}

Examination::Terms start_and(double gap, std::vector<BoundTerm> rest) {
  return [=, rest = std::move(rest)](const Snapshot& now) -> std::optional<std::vector<BoundTerm>> {
    if (!now.step_sum) {
      return std::nullopt;
    }
    std::vector<BoundTerm> terms{
        {Attribution::optimisation, "2Δ/(ηT)", 2 * gap / *now.step_sum, false}};
    terms.insert(terms.end(), rest.begin(), rest.end());
    return terms;
  };
}

Bound bsp(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  protocol_is(exam, Synchrony::lockstep);
  const auto [smoothness, gap, variance] = need_dense_constants(exam);
  const double eta = exam.step_at_most(1 / smoothness, "1/L");
  const double noise = smoothness * eta * variance / evidence.method().workers;
  return exam.finish(start_and(gap, {{Attribution::noise, "Lησ²/P", noise, false}}));
}

/// Workers average their models every H steps. An iteration of the run is an exchange.
Bound local_sgd(const Evidence& evidence) {
  Examination exam(evidence, Left::gradient);
  const RunFacts& facts = evidence.method();
  protocol_is(exam, Synchrony::periodic);
  const auto [smoothness, gap, variance] = need_dense_constants(exam);
  const double moment = exam.need(evidence.worker_second_moment());
  const double period = exam.need(evidence.local_steps());
  const double eta = exam.step_at_most(1 / smoothness, "1/L");
  const double largest = exam.need(evidence.largest_worker_smoothness());
  const double drift = largest * eta * (period - 1);
  const double noise = period * smoothness * eta * variance / facts.workers;
  return exam.finish(start_and(gap,
                               {{Attribution::noise, "HLησ²/P", noise, false},
                                {Attribution::heterogeneity,
                                 "HL_max²η²(H − 1)²G²",
                                 period * drift * drift * moment,
                                 true}}));
}

}  // namespace residuum
