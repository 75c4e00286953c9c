#include "reports/assumptions.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/html.h"
#include "reports/table.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kGTopK = "gtopk";

std::string number_with_interval(const AssumptionVerdict& verdict) {
  if (!verdict.value) {
    return "–";
  }
  std::string text = short_number(verdict.value);
  if (verdict.interval) {
    text += fmt::format(
        " [{}, {}]", short_number(verdict.interval->low), short_number(verdict.interval->high));
  }
  return text;
}

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

/// "holds", or "did not grow" where nothing else is tested.
std::string_view average_word(const AssumptionVerdict& verdict) {
  if (verdict.tests_growth && verdict.state == AssumptionState::holds) {
    return "did not grow";
  }
  if (verdict.tests_growth && verdict.state == AssumptionState::fails) {
    return "grew";
  }
  return state_text(verdict.state);
}

std::string share_text(const EveryVerdict& every) {
  const double share = 100 * static_cast<double>(every.violations) /
                       static_cast<double>(std::max<std::uint64_t>(every.measured, 1));
  if (share < 1) {
    return every.counts_all ? "<1 %" : ">0 %";
  }
  return fmt::format("{}{:.0f} %", every.counts_all ? "" : "≥", share);
}

/// "fails 15 %": of the measured iterations.
std::string every_word(const EveryVerdict& every) {
  if (every.state == AssumptionState::not_measured) {
    return "–";
  }
  std::string word(state_text(every.state));
  return every.state == AssumptionState::fails ? word + " " + share_text(every) : word;
}

/// "in 9 of 60 measured iterations, largest 1.098 at iteration 41".
std::string every_text(const EveryVerdict& every) {
  return fmt::format("{}{} of {} measured iterations above, largest {} at iteration {}",
                     every.counts_all ? "" : "at least ",
                     every.violations,
                     every.measured,
                     short_number(every.worst),
                     every.worst_iteration);
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

/// Those that were measured for some method of the study, by their position.
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

Json law_json(const DeltaPrediction& prediction) {
  return {{"delta", json_number(prediction.delta)},
          {"largest_workers", json_number(prediction.largest_workers)}};
}

DeltaPrediction predict(const MethodFacts& method, EntryLaw::Kind entries) {
  const bool one_density = !method.density_varies;
  const SelectionLaws laws{
      .keeps_largest = method.keeps_largest && one_density,
      .shares_support = method.shares_support,
      .exact_share = method.promise_is_exact && one_density ? method.promised_share : std::nullopt,
      .applies_whole_messages = method.applies_whole_messages,
      .selects_largest = method.selects_largest,
      .cuts_in_merges = method.cuts_in_merges,
      .completes_support = method.completes_support,
      .remembers_residuals = method.memory == Memory::residual};
  const double density = method.k.value_or(method.dimension) / method.dimension;
  return predict_delta(laws, density, method.workers, {.kind = entries});
}

std::size_t count_theorems(const GroupSummary& group, BoundVerdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(group.theorems.begin(), group.theorems.end(), [&](const TheoremSummary& one) {
        return one.bound.verdict == verdict;
      }));
}

/// "fails 15 % / holds": in every measured iteration, and on average.
std::string verdict_words(const AssumptionVerdict& verdict) {
  std::string average(verdict.state == AssumptionState::not_measured ? "–" : average_word(verdict));
  if (!verdict.every) {
    return average;
  }
  return verdict.is_average ? every_word(*verdict.every) + " / " + average
                            : every_word(*verdict.every);
}

/// A method's row of the verdicts: the assumptions at `shown`, then what its theorems say.
std::vector<std::string> verdict_row(const GroupSummary& group,
                                     const std::vector<std::size_t>& shown) {
  std::vector<std::string> row{printable(group.group.label)};
  for (const std::size_t i : shown) {
    row.push_back(verdict_words(group.assumptions[i].verdict));
  }
  const TheoremSummary* certificate = group.certificate();
  row.emplace_back(certificate == nullptr ? "–" : verdict_text(certificate->bound.verdict));
  row.push_back(certificate == nullptr ? "–" : short_number(certificate->bound.slack));
  row.push_back(fmt::format("{} hold, {} fail",
                            count_theorems(group, BoundVerdict::holds),
                            count_theorems(group, BoundVerdict::fails)));
  return row;
}

}  // namespace

void judge_assumptions(const ResultFolder& folder,
                       const Evidence& evidence,
                       GroupSummary& summary) {
  std::vector<const Run*> runs;
  for (const std::size_t i : summary.group.runs) {
    if (folder.runs[i].has_tables()) {
      runs.push_back(&folder.runs[i]);
    }
  }
  for (auto& verdict : residuum::judge_assumptions(evidence)) {
    AssumptionSummary one{
        .verdict = std::move(verdict), .worst_run = {}, .worst_every_run = {}, .worst = {}};
    if (one.verdict.worst && one.verdict.worst_seed < runs.size()) {
      one.worst_run = runs[one.verdict.worst_seed]->id;
    }
    if (one.verdict.every && one.verdict.every->worst_seed < runs.size()) {
      one.worst_every_run = runs[one.verdict.every->worst_seed]->id;
    }
    if (one.verdict.name == kGTopK) {
      one.worst = summary.delta.worst;
    } else if (one.verdict.name == "contraction") {
      one.worst = summary.contraction.worst;
    }
    summary.assumptions.push_back(std::move(one));
  }
  if (!runs.empty()) {
    const MethodFacts& method = evidence.method();
    summary.gaussian = predict(method, EntryLaw::Kind::gaussian);
    summary.laplace = predict(method, EntryLaw::Kind::laplace);
  }
}

namespace {

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({json_number(interval->low), json_number(interval->high)})
                  : Json(nullptr);
}

Json average_json(const AssumptionVerdict& verdict) {
  if (!verdict.is_average) {
    return nullptr;
  }
  return {{"verdict", state_text(verdict.state)},
          {"value", json_number(verdict.value)},
          {"interval", interval_json(verdict.interval)},
          {"sampling_error", json_number(verdict.sampling_error)},
          {"p_value", json_number(verdict.p_value)},
          {"rows", verdict.rows},
          {"iterations", verdict.iterations},
          {"tests_growth", verdict.tests_growth}};
}

Json every_json(const AssumptionSummary& one) {
  if (!one.verdict.every) {
    return nullptr;
  }
  const EveryVerdict& every = *one.verdict.every;
  Json where = nullptr;
  if (every.worst) {
    where = {{"run_id", one.worst_every_run}, {"iteration", every.worst_iteration}};
  }
  return {{"verdict", state_text(every.state)},
          {"violations", every.violations},
          {"violations_counted", every.counts_all ? "all" : "at least"},
          {"measured", every.measured},
          {"iterations", every.iterations},
          {"worst", json_number(every.worst)},
          {"where", where},
          {"remark", every.remark}};
}

}  // namespace

Json assumptions_json(const GroupSummary& group) {
  Json object = Json::object();
  for (const auto& one : group.assumptions) {
    const AssumptionVerdict& verdict = one.verdict;
    Json worst{{"value", json_number(verdict.worst)}, {"run_id", one.worst_run}};
    if (one.worst.value) {
      worst = {{"value", json_number(one.worst.value)},
               {"run_id", one.worst.run_id},
               {"iteration", one.worst.iteration}};
    }
    object[std::string(verdict.name)] = {{"verdict", state_text(verdict.state)},
                                         {"value", json_number(verdict.value)},
                                         {"interval", interval_json(verdict.interval)},
                                         {"average", average_json(verdict)},
                                         {"every", every_json(one)},
                                         {"worst", worst},
                                         {"seeds", verdict.seeds},
                                         {"remark", verdict.remark},
                                         {"statement", verdict.statement},
                                         {"paper", verdict.paper}};
  }
  return object;
}

Json prediction_json(const GroupSummary& group) {
  return {{"gaussian", law_json(group.gaussian)}, {"laplace", law_json(group.laplace)}};
}

namespace {

/// Says where averages are over a part of the iterations; empty where every one was measured.
std::string sampling_line(const Summary& summary) {
  std::uint64_t rows = 0;
  std::uint64_t iterations = 0;
  for (const auto& group : summary.groups) {
    for (const auto& one : group.assumptions) {
      if (one.verdict.name == kGTopK) {
        rows += one.verdict.rows;
        iterations += one.verdict.iterations;
      }
    }
  }
  if (rows >= iterations) {
    return {};
  }
  return fmt::format(
      "rows at {} of {} iterations, each counting for those until the next\n", rows, iterations);
}

}  // namespace

std::vector<std::string> failed_assumptions(const Summary& summary) {
  std::vector<std::string> lines;
  for (const auto& group : summary.groups) {
    const std::string label = printable(group.group.label);
    for (const auto& one : group.assumptions) {
      const AssumptionVerdict& verdict = one.verdict;
      if (verdict.is_average && verdict.state == AssumptionState::fails) {
        lines.push_back(fmt::format("{}: assumption '{}' fails on average: {}",
                                    label,
                                    verdict.name,
                                    number_with_interval(verdict)));
      }
      if (verdict.every && verdict.every->state == AssumptionState::fails) {
        lines.push_back(fmt::format("{}: assumption '{}' fails in single iterations: {}",
                                    label,
                                    verdict.name,
                                    every_text(*verdict.every)));
      }
    }
  }
  return lines;
}

std::string verdict_lines(const Summary& summary, std::size_t methods) {
  const auto shown = measured_assumptions(summary);
  std::vector<std::vector<std::string>> rows{{"in every iteration / on average"}};
  for (const std::size_t i : shown) {
    rows[0].emplace_back(summary.groups[0].assumptions[i].verdict.name);
  }
  rows[0].insert(rows[0].end(), {"certificate", "slack", "theorems"});
  for (std::size_t g = 0; g < std::min(methods, summary.groups.size()); ++g) {
    rows.push_back(verdict_row(summary.groups[g], shown));
  }
  return aligned_within(rows) + sampling_line(summary);
}

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
