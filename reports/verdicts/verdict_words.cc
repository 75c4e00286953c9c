#include "reports/verdicts/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

std::string share_text(const EveryVerdict& every) {
  const double share = 100 * every.share;
  if (share < 1) {
    return every.counts_all ? "<1 %" : ">0 %";
  }
  if (share > 99 && every.violations < every.measured) {
    return ">99 %";
  }
  return fmt::format("{}{:.0f} %", every.counts_all ? "" : "≥", share);
}

}  // namespace

std::string number_with_interval(const AssumptionVerdict& verdict) {
  if (!verdict.value) {
    return "–";
  }
  const std::string text = short_number(verdict.value, digits_for(verdict.interval));
  std::string mean = verdict.interval ? text + ' ' + short_interval(*verdict.interval) : text;
  if (!verdict.largest_quarter) {
    return mean;
  }
  return fmt::format(
      "{}, in quarter {} of the run {}",
      mean,
      verdict.largest_quarter->quarter,
      short_number(verdict.largest_quarter->value, digits_for(verdict.largest_quarter->interval)));
}

std::string_view average_word(const AssumptionVerdict& verdict) {
  if (verdict.tests_growth && verdict.state == AssumptionState::holds) {
    return "growth ≤ 1.1";
  }
  if (verdict.tests_growth && verdict.state == AssumptionState::fails) {
    return "grew";
  }
  return state_text(verdict.state);
}

std::string every_word(const EveryVerdict& every) {
  if (every.state == AssumptionState::not_measured) {
    return "–";
  }
  std::string word(state_text(every.state));
  return every.state == AssumptionState::fails ? word + " " + share_text(every) : word;
}

std::string every_text(const EveryVerdict& every) {
  return fmt::format("{}{} of {} measured iterations above, largest {} at iteration {}",
                     every.counts_all ? "" : "at least ",
                     every.violations,
                     every.measured,
                     short_number(every.worst),
                     every.worst_iteration);
}

std::vector<std::size_t> measured_assumptions(const Summary& summary) {
  std::vector<std::size_t> measured;
  const std::size_t count = summary.groups.empty() ? 0 : summary.groups[0].assumptions.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool any =
        std::any_of(summary.groups.begin(), summary.groups.end(), [i](const auto& group) {
          const AssumptionVerdict& verdict = group.assumptions[i].verdict;
          return verdict.state != AssumptionState::not_measured ||
                 (verdict.every && verdict.every->state != AssumptionState::not_measured);
        });
    if (any) {
      measured.push_back(i);
    }
  }
  return measured;
}

}  // namespace residuum::reports
