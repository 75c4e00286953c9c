#include "assumptions/verdicts/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/estimators/intervals.h"
#include "assumptions/verdicts/ratios.h"

namespace residuum {
namespace {

/// Chance of a false alarm on one side, in a whole study.
constexpr double kAlarms = (1 - kConfidence) / 2;

/// The key that says how often a method is repeated.
constexpr std::string_view kSeeds = "seeds";

bool exceeds(Limit limit, double value) {
  if (limit == Limit::below_one) {
    return !(value < 1);
  }
  return !(value <= 1 + (limit == Limit::single_quotients ? kQuotientRounding : kRatioRounding));
}

std::string_view limit_text(Limit limit) {
  switch (limit) {
    case Limit::below_one:
      return "< 1";
    case Limit::around_one:
      return "= 1";
    case Limit::around_zero:
      return "= 0";
    case Limit::no_growth:
      return "≤ 1.1";
    case Limit::at_most_one:
    case Limit::single_quotients:
      break;
  }
  return "≤ 1";
}

bool is_two_sided(Limit limit) { return limit == Limit::around_one || limit == Limit::around_zero; }

/// An interval that does not contain the expected value contradicts the assumption.
AssumptionState state_around(Limit limit, const std::optional<Interval>& interval) {
  const double expected = limit == Limit::around_one ? 1 : 0;
  if (!interval) {
    return AssumptionState::undecided;
  }
  return interval->low <= expected && interval->high >= expected ? AssumptionState::holds
                                                                 : AssumptionState::fails;
}

/// Ratios of growth have an expectation of one or a little less where nothing grows.
AssumptionState state_of_growth(double low, double high) {
  if (high <= kGrowth) {
    return AssumptionState::holds;
  }
  return low > 1 ? AssumptionState::fails : AssumptionState::undecided;
}

AssumptionState state_of(Limit limit, const AssumptionVerdict& verdict, bool is_random) {
  if (is_two_sided(limit)) {
    return state_around(limit, verdict.interval);
  }
  if (limit == Limit::single_quotients) {
    return exceeds(limit, *verdict.worst) ? AssumptionState::fails : AssumptionState::holds;
  }
  if (is_random && !verdict.interval) {
    return AssumptionState::undecided;
  }
  const double low = is_random ? verdict.interval->low : *verdict.value;
  const double high = is_random ? verdict.interval->high : *verdict.value;
  if (limit == Limit::no_growth) {
    return state_of_growth(low, high);
  }
  if (exceeds(limit, low - verdict.sampling_error)) {
    return AssumptionState::fails;
  }
  if (!exceeds(limit, high + verdict.sampling_error)) {
    return AssumptionState::holds;
  }
  return verdict.sampling_error > 0 ? AssumptionState::undecided : AssumptionState::marginal;
}

void remark(std::string& remarks, const std::string& text) {
  remarks += (remarks.empty() ? "" : "; ") + text;
}

/// Returns the p-value for Holm's correction, absent where there is nothing to test.
std::optional<double> p_value_of(Limit limit,
                                 const AssumptionVerdict& verdict,
                                 const std::vector<double>& values) {
  if (limit == Limit::single_quotients) {
    return std::nullopt;
  }
  const double expected = limit == Limit::around_zero ? 0 : 1;
  if (!is_two_sided(limit)) {
    return chance_above(values, expected + verdict.sampling_error);
  }
  const auto above = chance_above(values, expected);
  return above ? std::optional<double>(std::min(*above, 1 - *above)) : std::nullopt;
}

/// Sets the mean over the seeds with its interval, and the worst seed.
void take_seeds(AssumptionVerdict& verdict, const std::vector<double>& values) {
  const auto worst = std::max_element(values.begin(), values.end());
  verdict.seeds = values.size();
  verdict.of_seeds = values;
  verdict.worst = *worst;
  verdict.worst_seed = static_cast<std::size_t>(worst - values.begin());
  double sum = 0;
  for (const double value : values) {
    sum += value;
  }
  verdict.value = sum / static_cast<double>(values.size());
  verdict.interval = mean_interval(values);
}

/// Sets the quarter with the largest mean over the seeds.
void take_quarters(AssumptionVerdict& verdict, const Ratios& ratios) {
  if (ratios.quarters.empty()) {
    return;
  }
  LargestQuarter largest;
  for (std::size_t q = 0; q < 4; ++q) {
    std::vector<double> values;
    double sum = 0;
    for (const auto& seed : ratios.quarters) {
      values.push_back(seed.at(q));
      sum += seed.at(q);
    }
    const double mean = sum / static_cast<double>(values.size());
    if (q == 0 || mean > largest.value) {
      largest = {.quarter = q + 1,
                 .value = mean,
                 .interval = mean_interval_of_error(values, (1 - kConfidence) / 4)};
    }
  }
  verdict.largest_quarter = largest;
}

/// An assumption that holds over the whole run is marginal if it fails in a quarter of the run.
void ask_quarters(Limit limit, bool is_random, AssumptionVerdict& verdict) {
  const auto& largest = verdict.largest_quarter;
  if (verdict.state != AssumptionState::holds || !largest || is_two_sided(limit) ||
      (is_random && !largest->interval)) {
    return;
  }
  const std::string place = fmt::format("its quarter {}: {:.6g}", largest->quarter, largest->value);
  // A quarter has a fourth of the rows, and twice the error of sampling.
  const double low = (is_random ? largest->interval->low : largest->value);
  if (exceeds(limit, low - 2 * verdict.sampling_error)) {
    verdict.state = AssumptionState::marginal;
    remark(verdict.remark,
           fmt::format("holds over the run, not in {}; the run is weighted by energy", place));
  } else if (exceeds(limit, largest->value)) {
    remark(verdict.remark, fmt::format("holds over the run, undecided in {}", place));
  }
}

/// Sets the measured values. Runs without randomness are one run, however many seeds a study names.
void take_measures(const Ratios& ratios, bool is_random, AssumptionVerdict& verdict) {
  take_seeds(verdict, ratios.values);
  take_quarters(verdict, ratios);
  verdict.remark = ratios.note;
  verdict.rows = ratios.rows;
  verdict.iterations = ratios.iterations;
  if (is_random) {
    return;
  }
  if (verdict.seeds > 1) {
    verdict.seeds = 1;
    verdict.interval.reset();
    remark(verdict.remark, "nothing in it is random: all seeds are one");
  }
  if (verdict.largest_quarter) {
    verdict.largest_quarter->interval.reset();
  }
}

/// Tells why there is no interval, and which key of the study would decide an undecided verdict.
void say_what_is_open(const Judge& how, bool is_random, AssumptionVerdict& verdict) {
  if (!verdict.interval && is_random) {
    remark(verdict.remark,
           verdict.seeds < 2 ? "one seed: no interval" : "a value is not finite: no interval");
  }
  if (verdict.state != AssumptionState::undecided) {
    return;
  }
  if (is_random && (verdict.seeds < 2 || how.limit == Limit::no_growth)) {
    verdict.open_key = kSeeds;
  }
  if (verdict.sampling_error > 0 && (verdict.interval || !is_random)) {
    verdict.open_key = how.cadence;
    remark(verdict.remark,
           fmt::format("rows at {} of {} iterations leave it open: set {} to 1",
                       verdict.rows,
                       verdict.iterations,
                       how.cadence));
  }
}

bool has_infinite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double one) { return std::isinf(one); });
}

bool has_upper_limit(Limit limit) { return !is_two_sided(limit) && limit != Limit::no_growth; }

void judge_average(const Judge& how, const Evidence& evidence, AssumptionVerdict& verdict) {
  const Ratios ratios = how.ratios(evidence);
  if (ratios.values.empty()) {
    verdict.remark = ratios.missing;
    return;
  }
  const bool is_infinite = has_infinite(ratios.values);
  if (is_infinite && !has_upper_limit(how.limit)) {
    verdict.remark = "what was measured is not finite";
    return;
  }
  const bool are_one_run = ratios.values.size() > 1 &&
                           std::all_of(ratios.values.begin(), ratios.values.end(), [&](double x) {
                             return x == ratios.values.front();
                           });
  const bool is_random = !evidence.method().deterministic && !are_one_run;
  take_measures(ratios, is_random, verdict);
  if (!ratios.by_law.empty()) {
    verdict.state = AssumptionState::holds;
    remark(verdict.remark, ratios.by_law);
    return;
  }
  if (is_infinite) {  // its mean over the seeds is above the limit, with or without an interval
    verdict.state = AssumptionState::fails;
    remark(verdict.remark, "infinite: what it is held against is 0");
    return;
  }
  verdict.sampling_error = ratios.sampling_error();
  verdict.state = state_of(how.limit, verdict, is_random);
  ask_quarters(how.limit, is_random, verdict);
  if (!ratios.known_not.empty()) {
    remark(verdict.remark, ratios.known_not);
    if (verdict.state == AssumptionState::holds) {
      verdict.state = AssumptionState::undecided;  // known to be untrue, though it is not seen here
    }
  }
  if (is_random) {
    verdict.p_value = p_value_of(how.limit, verdict, ratios.values);
  }
  say_what_is_open(how, is_random, verdict);
}

/// No assumption is said to hold if runs diverged or were cut short, or if a worker never sent an
/// entry: the missing iterations or messages may violate it.
void hold_nothing_with_reservation(const Evidence& evidence, AssumptionVerdict& verdict) {
  const std::string reservation = evidence.reservation();
  const auto withdraw = [&](auto& one) {
    if (!reservation.empty() && one.state == AssumptionState::holds) {
      one.state = AssumptionState::undecided;
      remark(one.remark, reservation);
    }
    if (!reservation.empty()) {
      one.open_key = {};  // no key of the study decides it
    }
  };
  withdraw(verdict);
  if (verdict.every) {
    withdraw(*verdict.every);
  }
}

/// Returns the share of all seeds' iterations that violate the assumption. If the iterations
/// between rows are not known, it is the share of the measured ones.
double violating_share(const SinglesOfSeeds& all, const Evidence& evidence) {
  Singles sum;
  for (std::size_t i = 0; i < all.seeds.size(); ++i) {
    const Singles whole = all.seeds[i].until(evidence.seeds()[i].iterations());
    sum.stood_for += whole.stood_for;
    sum.violating += whole.violating;
    sum.measured += whole.measured;
    sum.violations += whole.violations;
  }
  return sum.stood_for > 0
             ? static_cast<double>(sum.violating) / static_cast<double>(sum.stood_for)
             : static_cast<double>(sum.violations) / static_cast<double>(sum.measured);
}

// One question after the other, each with its own words.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
std::optional<EveryVerdict> judge_every(const Judge& how, const Evidence& evidence) {
  if (how.singles == nullptr) {
    return std::nullopt;
  }
  const SinglesOfSeeds all = how.singles(evidence);
  EveryVerdict verdict;
  verdict.remark = all.missing;
  for (std::size_t i = 0; i < all.seeds.size(); ++i) {
    const Singles& seed = all.seeds[i];
    verdict.violations += seed.violations;
    verdict.counts_all = verdict.counts_all && seed.counts_all;
    verdict.measured += seed.measured;
    verdict.iterations += evidence.seeds()[i].iterations();
    if (seed.largest && !(verdict.worst && *verdict.worst >= *seed.largest)) {
      verdict.worst = seed.largest;
      verdict.worst_seed = i;
      verdict.worst_iteration = seed.where;
    }
  }
  if (verdict.measured == 0) {
    return verdict;
  }
  verdict.share = violating_share(all, evidence);
  if (how.limit == Limit::single_quotients) {
    verdict.iterations = verdict.measured;  // several quotients may be of one iteration
  }
  if (verdict.worst && std::isinf(*verdict.worst)) {
    verdict.state = AssumptionState::fails;
    remark(verdict.remark, "an infinite ratio: the right side is 0, in expectation too");
  } else if (!all.in_expectation.empty()) {
    verdict.state = all.holds_by_law ? AssumptionState::holds : AssumptionState::undecided;
    remark(verdict.remark, all.in_expectation);
  } else if (verdict.violations > 0) {
    verdict.state = AssumptionState::fails;
  } else if (verdict.measured < verdict.iterations) {
    verdict.state = AssumptionState::undecided;
    verdict.open_key = how.cadence;
    remark(verdict.remark,
           fmt::format("not violated where it was measured, at {} of {} iterations: set {} to 1",
                       verdict.measured,
                       verdict.iterations,
                       how.cadence));
  } else {
    verdict.state = AssumptionState::holds;
  }
  return verdict;
}

}  // namespace

std::string_view state_text(AssumptionState state) {
  switch (state) {
    case AssumptionState::holds:
      return "holds";
    case AssumptionState::marginal:
      return "marginal";
    case AssumptionState::fails:
      return "fails";
    case AssumptionState::undecided:
      return "undecided";
    case AssumptionState::not_measured:
      break;
  }
  return "not measured";
}

std::vector<AssumptionVerdict> judge_assumptions(const Evidence& evidence) {
  std::vector<AssumptionVerdict> verdicts;
  for (const Judge& how : assumption_judges()) {
    AssumptionVerdict verdict;
    verdict.name = how.name;
    verdict.statement = how.statement;
    verdict.paper = how.paper;
    verdict.limit = limit_text(how.limit);
    verdict.is_average = how.limit != Limit::single_quotients;
    verdict.tests_growth = how.limit == Limit::no_growth;
    judge_average(how, evidence, verdict);
    verdict.every = judge_every(how, evidence);
    hold_nothing_with_reservation(evidence, verdict);
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

void control_false_alarms(std::span<AssumptionVerdict* const> verdicts) {
  std::vector<AssumptionVerdict*> tested;
  std::vector<double> p_values;
  for (AssumptionVerdict* verdict : verdicts) {
    if (verdict->p_value) {
      tested.push_back(verdict);
      p_values.push_back(*verdict->p_value);
    }
  }
  const auto rejected = holm_rejects(p_values, kAlarms);
  for (std::size_t i = 0; i < tested.size(); ++i) {
    if (tested[i]->state == AssumptionState::fails && !rejected[i]) {
      tested[i]->state =
          tested[i]->tests_growth ? AssumptionState::undecided : AssumptionState::marginal;
      remark(
          tested[i]->remark,
          fmt::format("fails by itself (p = {:.2g}), not among the {} tests of this study (Holm)",
                      p_values[i],
                      tested.size()));
    }
  }
}

}  // namespace residuum
