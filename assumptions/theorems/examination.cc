#include "assumptions/theorems/examination.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "assumptions/estimators/holm.h"

namespace residuum {
namespace {

constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();

std::string_view left_text(Left left) {
  switch (left) {
    case Left::gradient:
      return "Σ η ‖∇f(w)‖² / Σ η";
    case Left::loss_gap:
      return "Σ η (f(w) − f*) / Σ η";
    case Left::averaged_model:
      break;
  }
  return "f(weighted average of w) − f*";
}

/// What to ask for to get it measured.
std::string_view left_cure(Left left) {
  switch (left) {
    case Left::gradient:
      return "probes.evaluate, or probe noise; for the certificate probe certificate";
    case Left::loss_gap:
      return "probes.evaluate, where f* is known";
    case Left::averaged_model:
      break;
  }
  return "probe average, where f* is known";
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// None either where the spread of the seeds is beyond float64.
std::optional<Interval> finite_interval(const std::vector<double>& values) {
  auto interval = mean_interval(values);
  if (interval && !(std::isfinite(interval->low) && std::isfinite(interval->high))) {
    interval.reset();
  }
  return interval;
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

Examination::Examination(const Evidence& evidence, Left left) : evidence_(&evidence), left_(left) {
  bound_.left = left_text(left);
  bound_.seeds = evidence.seeds().size();
}

void Examination::precondition(std::string statement, bool met, std::string detail) {
  precondition(std::move(statement),
               met ? PreconditionState::met : PreconditionState::not_met,
               std::move(detail));
}

void Examination::precondition(std::string statement, PreconditionState state, std::string detail) {
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

void Examination::plain_updates() {
  const MethodFacts& facts = method();
  precondition("no momentum", facts.momentum == 0, fmt::format("momentum is {}", facts.momentum));
  precondition("no decay of weights, and nothing is clipped",
               facts.weight_decay == 0 && facts.clipped == "nothing",
               fmt::format("weight decay is {}, clipped is {}", facts.weight_decay, facts.clipped));
}

void Examination::unbiased_gradients() {
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

void Examination::lockstep_with_plain_updates() {
  precondition("workers exchange in lockstep",
               method().protocol == "bsp",
               fmt::format("protocol is {}", method().protocol));
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

void Examination::whole_messages_are_applied() {
  const MethodFacts& facts = method();
  precondition("every message is applied as it was sent",
               facts.applies_whole_messages,
               fmt::format("aggregator {} {}",
                           facts.aggregator,
                           facts.applies_whole_messages ? "does" : "cuts what was sent"));
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
  const auto below = proven ? PreconditionState::met : PreconditionState::not_refuted;
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
  const double q = need(evidence_->contraction_in_every_iteration());
  contracts("contraction q < 1 in every iteration",
            q,
            evidence_->measured_everywhere(&SeedMeasures::single_contraction));
  return q;
}

double Examination::residuals_contract() {
  const double q = need(evidence_->worker_contraction());
  contracts("contraction q < 1 of the workers' residuals, on average over the run", q, true);
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
  const auto state = method().smoothness ? PreconditionState::met : PreconditionState::not_refuted;
  precondition(fmt::format("η ≤ {}", formula),
               below ? state : PreconditionState::not_met,
               fmt::format("η = {:.6g}, limit {:.6g}{}",
                           eta,
                           limit,
                           method().smoothness ? "" : " with an L that may be larger"));
  return eta;
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

/// Measured at every iteration by the full gradient, else so by half batches, else what there is.
std::optional<Average> Examination::left_at(const Snapshot& snapshot) const {
  if (left_ == Left::loss_gap) {
    return snapshot.loss_gap;
  }
  if (left_ == Left::averaged_model) {
    if (!snapshot.averaged_gap) {
      return std::nullopt;
    }
    return Average{.value = *snapshot.averaged_gap, .measured = snapshot.iterations};
  }
  const auto& full = snapshot.gradient;
  const auto& split = snapshot.split_gradient;
  const bool full_is_complete = full && full->measured == snapshot.iterations;
  const bool split_is_complete = split && split->measured == snapshot.iterations;
  return (full_is_complete || !split_is_complete) && full ? full : split;
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
  if (uses_smoothness && !method().smoothness) {
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

/// Between two looks the left side may be anything: a sampled one decides nothing.
bool Examination::is_sampled(const Sides& last) const {
  return left_ != Left::averaged_model && static_cast<double>(last.measured) < last.iterations;
}

void Examination::judge(const Sides& last) {
  std::vector<double> excess;
  for (std::size_t i = 0; i < last.lhs.size(); ++i) {
    excess.push_back(last.lhs[i] - last.rhs[i]);
  }
  if (is_sampled(last)) {
    bound_.verdict = BoundVerdict::undecided;
    bound_.reason = fmt::format(
        "the left side was measured at {} of {} iterations: set {} to 1",
        last.measured,
        last.iterations,
        left_ == Left::gradient ? "probes.evaluate or probes.noise_every" : "probes.evaluate");
    bound_.excess = mean_interval(excess);
    return;
  }
  if (method().deterministic) {
    remark("nothing in the run is random: no interval is needed");
    bound_.verdict = mean(excess) <= 0 ? BoundVerdict::holds : BoundVerdict::fails;
    return;
  }
  bound_.excess = finite_interval(excess);
  if (!bound_.excess) {
    bound_.verdict = BoundVerdict::undecided;
    bound_.reason = excess.size() < 2
                        ? "one seed: a bound in expectation takes an interval over seeds"
                        : "a side of some seed is not finite";
    return;
  }
  bound_.p_value = chance_above(excess, 0);
  if (bound_.excess->high <= 0) {
    bound_.verdict = BoundVerdict::holds;
  } else {
    bound_.verdict = bound_.excess->low > 0 ? BoundVerdict::fails : BoundVerdict::marginal;
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
    bound_.curve.push_back(
        {.iterations = point.iterations, .lhs = mean(point.lhs), .rhs = mean(point.rhs)});
  }
  const Sides& last = points.back();
  bound_.iterations = last.iterations;
  bound_.lhs = mean(last.lhs);
  bound_.rhs = mean(last.rhs);
  if (*bound_.lhs > 0) {
    bound_.slack = *bound_.rhs / *bound_.lhs;
  }
  bound_.terms = last.terms;
  remark_reservations(last);
  find_horizon(last.iterations);
}

Bound Examination::finish(const Terms& terms) {
  if (!met()) {
    bound_.verdict = BoundVerdict::not_applicable;
    for (const auto& one : bound_.preconditions) {
      if (one.state == PreconditionState::not_met) {
        missing_reason(fmt::format("{}: {}", one.statement, one.detail));
      }
    }
    return bound_;
  }
  for (const auto& constant : bound_.constants) {
    if (!constant.value) {
      missing_reason(fmt::format("{}: {}", constant.symbol, constant.origin));
    }
  }
  if (!bound_.reason.empty()) {
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
  judge(points.back());
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

}  // namespace residuum
