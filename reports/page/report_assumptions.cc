#include "reports/page/report_assumptions.h"

#include <fmt/format.h>

#include "reports/numbers/words.h"
#include "reports/page/html.h"
#include "reports/verdicts/verdict_words.h"

namespace residuum::reports {
namespace {

std::string_view css_class(AssumptionState state) {
  switch (state) {
    case AssumptionState::holds:
      return "pass";
    case AssumptionState::fails:
      return "fail";
    case AssumptionState::marginal:
      return "known";
    case AssumptionState::undecided:
    case AssumptionState::not_measured:
      break;
  }
  return "none";
}

std::string badge(AssumptionState state, std::string_view word) {
  return fmt::format("<span class=\"{}\">{}</span>", css_class(state), word);
}

std::string small(const std::string& text) {
  return text.empty() ? text : fmt::format("<small>{}</small>", escape(text));
}

Cell verdict_cell(const AssumptionSummary& one) {
  const AssumptionVerdict& verdict = one.verdict;
  std::string html;
  if (verdict.every && verdict.every->state != AssumptionState::not_measured) {
    const EveryVerdict& every = *verdict.every;
    html += small("in every measured iteration") + badge(every.state, state_text(every.state)) +
            small(every_text(every)) + small(every.remark);
  }
  if (!verdict.is_average) {
    return {.html = html.empty() ? badge(verdict.state, state_text(verdict.state)) : html,
            .is_number = false};
  }
  if (!html.empty()) {
    html += small("on average");
  }
  html += badge(verdict.state, average_word(verdict));
  if (verdict.value) {
    html += small(number_with_interval(verdict));
  }
  if (verdict.rows < verdict.iterations) {
    html += small(fmt::format("rows at {} of {} iterations", verdict.rows, verdict.iterations));
  }
  return {.html = html + small(verdict.remark), .is_number = false};
}

}  // namespace

std::string assumptions_table(const Summary& summary) {
  const auto shown = measured_assumptions(summary);
  if (shown.empty()) {
    return {};
  }
  std::vector<Cell> header{text_cell("method")};
  for (const std::size_t i : shown) {
    header.push_back(text_cell(summary.groups[0].assumptions[i].verdict.name));
  }
  header.push_back(text_cell("predicted δ, P* (iid Gaussian)"));
  std::vector<std::vector<Cell>> rows;
  for (const auto& group : summary.groups) {
    std::vector<Cell> row{text_cell(group.group.label)};
    for (const std::size_t i : shown) {
      row.push_back(verdict_cell(group.assumptions[i]));
    }
    row.push_back(text_cell(fmt::format("{}, {}",
                                        short_number(group.gaussian.delta),
                                        short_number(group.gaussian.largest_workers))));
    rows.push_back(std::move(row));
  }
  return table(header, rows);
}

std::string assumptions_legend(const Summary& summary) {
  if (summary.groups.empty()) {
    return {};
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& one : summary.groups[0].assumptions) {
    rows.push_back({text_cell(one.verdict.name),
                    text_cell(one.verdict.statement),
                    text_cell(one.verdict.paper)});
  }
  return table({text_cell("assumption"), text_cell("statement and ratio"), text_cell("source")},
               rows);
}

}  // namespace residuum::reports
