#include <fmt/format.h>

#include <optional>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

std::optional<AssumptionState> every_state(const AssumptionVerdict& verdict) {
  if (!verdict.every || verdict.every->state == AssumptionState::not_measured) {
    return std::nullopt;
  }
  return verdict.every->state;
}

std::optional<AssumptionState> average_state(const AssumptionVerdict& verdict) {
  if (!verdict.is_average || verdict.state == AssumptionState::not_measured) {
    return std::nullopt;
  }
  return verdict.state;
}

/// Returns the one class of both verdicts, so that no two colours stand for one assumption.
std::string_view verdict_class(const AssumptionVerdict& verdict) {
  const auto every = every_state(verdict);
  const auto average = average_state(verdict);
  const auto any = [&](AssumptionState state) { return every == state || average == state; };
  const auto decisive = average ? average : every;
  if (decisive == AssumptionState::fails) {
    return "fail";
  }
  if (any(AssumptionState::fails) || any(AssumptionState::marginal)) {
    return "known";
  }
  const bool undecided = any(AssumptionState::undecided);
  return any(AssumptionState::holds) && !undecided ? "pass" : "none";
}

/// Returns 0 for what holds on average, 1 for what fails, and between them for the rest.
std::optional<double> average_severity(const AssumptionVerdict& verdict) {
  const auto average = average_state(verdict);
  if (!average) {
    return std::nullopt;
  }
  if (*average == AssumptionState::holds) {
    return 0;
  }
  return *average == AssumptionState::fails ? 1 : 0.5;
}

/// Returns "fails 15 % / holds", or one word where both verdicts say the same or there is one only.
std::string verdict_words(const AssumptionVerdict& verdict) {
  const auto every = every_state(verdict);
  const auto average = average_state(verdict);
  if (!every) {
    return std::string(average ? average_word(verdict) : "–");
  }
  if (!average || (*every == *average && *every == AssumptionState::holds)) {
    return every_word(*verdict.every);
  }
  return fmt::format("{} / {}", every_word(*verdict.every), average_word(verdict));
}

/// Returns what a verdict is sorted by: the share of the iterations that fail where single ones are
/// judged, and else how bad the average is.
std::optional<double> severity(const AssumptionVerdict& verdict) {
  if (const auto every = every_state(verdict)) {
    return verdict.every->share;
  }
  return average_severity(verdict);
}

std::string worst_text(const AssumptionVerdict& verdict) {
  if (!every_state(verdict) || !verdict.every->worst) {
    return verdict.worst ? fmt::format("worst {}", short_number(verdict.worst)) : std::string();
  }
  return fmt::format("worst {} at t\u00a0=\u00a0{}",
                     short_number(verdict.every->worst),
                     verdict.every->worst_iteration);
}

std::string small_line(const std::string& text) { return text.empty() ? text : small(text); }

Cell matrix_cell(const AssumptionVerdict& verdict) {
  const std::string words = verdict_words(verdict);
  if (words == "–") {
    return {.html = "<span class=\"none\">–</span>", .is_number = false};
  }
  Cell cell{
      .html = fmt::format("<span class=\"{}\">{}</span>", verdict_class(verdict), escape(words)),
      .is_number = false,
      .value = severity(verdict)};
  if (average_state(verdict) && verdict.value) {
    cell.html += small("average " + number_with_interval(verdict));
  }
  cell.html += small_line(worst_text(verdict));
  return cell;
}

std::string place_text(const AssumptionSummary& one) {
  const AssumptionVerdict& verdict = one.verdict;
  if (every_state(verdict) && verdict.every->worst) {
    return fmt::format("{}, t = {}", one.worst_every_run, verdict.every->worst_iteration);
  }
  return one.worst_run;
}

std::vector<Cell> place_row(const GroupSummary& group, const AssumptionSummary& one) {
  const AssumptionVerdict& verdict = one.verdict;
  const auto worst = every_state(verdict) ? verdict.every->worst : verdict.worst;
  Cell every = text_cell(every_state(verdict) ? every_word(*verdict.every) : "–");
  if (every_state(verdict)) {
    every.value = severity(verdict);
    every.html += small(every_text(*verdict.every)) + small_line(verdict.every->remark);
  }
  Cell average = text_cell(average_state(verdict) ? average_word(verdict) : "–");
  average.value = average_severity(verdict);
  if (average_state(verdict)) {
    average.html += small_line(verdict.value ? number_with_interval(verdict) : "");
    if (verdict.rows < verdict.iterations) {
      average.html +=
          small(fmt::format("rows at {} of {} iterations", verdict.rows, verdict.iterations));
    }
  }
  average.html += small_line(verdict.remark);
  Cell ratio = number_cell(short_number(worst));
  ratio.value = worst;
  return {method_cell(group),
          text_cell(verdict.name),
          every,
          average,
          ratio,
          text_cell(place_text(one))};
}

}  // namespace

std::string verdict_matrix(const Summary& summary) {
  const auto shown = measured_assumptions(summary);
  if (shown.empty()) {
    return {};
  }
  std::vector<Cell> header{text_cell("method")};
  for (const std::size_t i : shown) {
    const AssumptionVerdict& verdict = summary.groups[0].assumptions[i].verdict;
    header.push_back(text_cell(verdict.name));
    header.back().html += small(verdict.limit);
  }
  header.push_back(text_cell("predicted δ, P* (iid Gaussian)"));
  std::vector<std::vector<Cell>> rows;
  TableUse use{.id = "verdict-table",
               .caption =
                   "In every measured iteration / on average over the run; one word where "
                   "both say the same. Each is a ratio that must keep to the limit below its name, "
                   "or is expected to be what stands there.",
               .is_searched = false,
               .methods = {},
               .has_cards = true};
  for (std::size_t g = 0; g < summary.groups.size(); ++g) {
    use.methods.emplace_back(g);
    rows.push_back({method_cell(summary.groups[g])});
    for (const std::size_t i : shown) {
      rows.back().push_back(matrix_cell(summary.groups[g].assumptions[i].verdict));
    }
    const DeltaPrediction& predicted = summary.groups[g].gaussian;
    rows.back().push_back(text_cell(fmt::format(
        "{}, {}", short_number(predicted.delta), short_number(predicted.largest_workers))));
  }
  return table(header, rows, use);
}

std::string verdict_places(const Summary& summary) {
  std::vector<std::vector<Cell>> rows;
  TableUse use{.id = "places-table", .caption = {}, .is_searched = false, .methods = {}};
  for (std::size_t g = 0; g < summary.groups.size(); ++g) {
    for (const std::size_t i : measured_assumptions(summary)) {
      use.methods.emplace_back(g);
      rows.push_back(place_row(summary.groups[g], summary.groups[g].assumptions[i]));
    }
  }
  return table({text_cell("method"),
                text_cell("assumption"),
                text_cell("in every iteration"),
                text_cell("on average"),
                number_cell("worst ratio"),
                text_cell("where")},
               rows,
               use);
}

std::string assumptions_legend(const Summary& summary) {
  if (summary.groups.empty()) {
    return {};
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& one : summary.groups[0].assumptions) {
    rows.push_back({text_cell(one.verdict.name),
                    text_cell(one.verdict.limit),
                    text_cell(one.verdict.statement),
                    text_cell(one.verdict.paper)});
  }
  return table({text_cell("assumption"),
                text_cell("held against"),
                text_cell("statement and ratio"),
                text_cell("source")},
               rows);
}

}  // namespace residuum::reports
