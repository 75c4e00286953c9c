#include "reports/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "assumptions/iid_prediction.h"
#include "assumptions/overlap_prediction.h"
#include "reports/html.h"
#include "reports/table.h"

namespace residuum::reports {
namespace {

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

Cell verdict_cell(const AssumptionSummary& one) {
  const AssumptionVerdict& verdict = one.verdict;
  std::string html = fmt::format(
      "<span class=\"{}\">{}</span>", css_class(verdict.state), state_text(verdict.state));
  if (verdict.value) {
    html += fmt::format("<small>{}</small>", escape(number_with_interval(verdict)));
  }
  if (one.worst.value) {
    html += fmt::format("<small>worst {} at iteration {}</small>",
                        escape(short_number(one.worst.value)),
                        one.worst.iteration);
  }
  if (!verdict.remark.empty()) {
    html += fmt::format("<small>{}</small>", escape(verdict.remark));
  }
  return {.html = html, .is_number = false};
}

/// Those that were measured for some method of the study, by their position.
std::vector<std::size_t> measured_assumptions(const Summary& summary) {
  std::vector<std::size_t> measured;
  const std::size_t count = summary.groups.empty() ? 0 : summary.groups[0].assumptions.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool any =
        std::any_of(summary.groups.begin(), summary.groups.end(), [i](const auto& group) {
          return group.assumptions[i].verdict.state != AssumptionState::not_measured;
        });
    if (any) {
      measured.push_back(i);
    }
  }
  return measured;
}

Json law_json(const IidPrediction& prediction) {
  return {{"delta", json_number(prediction.delta)},
          {"largest_workers", json_number(prediction.largest_workers)}};
}

/// Exact gTop-k, with the overlap of the workers' selections: a convolution, made once for all
/// methods of a study that share law, density and workers.
IidPrediction predict_exact(double density, double workers, const EntryLaw& law) {
  using Key = std::tuple<EntryLaw::Kind, double, int>;
  static std::map<Key, std::optional<double>> deltas;
  static std::map<Key, std::optional<double>> limits;
  const auto remembered = [](auto& memory, const Key& key, const auto& compute) {
    const auto found = memory.find(key);
    return found != memory.end() ? found->second : memory.emplace(key, compute()).first->second;
  };
  const int count = static_cast<int>(workers);
  return {.delta = remembered(deltas,
                              {law.kind, density, count},
                              [&] { return overlapping_delta_iid(density, count, law); }),
          .largest_workers = remembered(limits, {law.kind, density, 0}, [&] {
            const auto limit = largest_workers_overlapping(density, law);
            return limit ? std::optional<double>(*limit) : std::nullopt;
          })};
}

IidPrediction predict(const MethodFacts& method, const EntryLaw& law) {
  const double density = method.k.value_or(method.dimension) / method.dimension;
  if (method.aggregator == "gtopk-exact") {
    return predict_exact(density, method.workers, law);
  }
  return {.delta = predicted_delta_iid(method.aggregator, density, method.workers, law),
          .largest_workers = largest_workers_iid(method.aggregator, density, law)};
}

std::size_t count_theorems(const GroupSummary& group, BoundVerdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(group.theorems.begin(), group.theorems.end(), [&](const TheoremSummary& one) {
        return one.bound.verdict == verdict;
      }));
}

/// A method's row of the verdicts: the assumptions at `shown`, then what its theorems say.
std::vector<std::string> verdict_row(const GroupSummary& group,
                                     const std::vector<std::size_t>& shown) {
  std::vector<std::string> row{printable(group.group.label)};
  for (const std::size_t i : shown) {
    const AssumptionState state = group.assumptions[i].verdict.state;
    row.emplace_back(state == AssumptionState::not_measured ? "–" : state_text(state));
  }
  const TheoremSummary* certificate = group.theorem("certificate");
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
    AssumptionSummary one{.verdict = std::move(verdict), .worst_run = {}, .worst = {}};
    if (one.verdict.worst && one.verdict.worst_seed < runs.size()) {
      one.worst_run = runs[one.verdict.worst_seed]->id;
    }
    if (one.verdict.name == "gtopk") {
      one.worst = summary.delta.worst;
    } else if (one.verdict.name == "contraction") {
      one.worst = summary.contraction.worst;
    }
    summary.assumptions.push_back(std::move(one));
  }
  if (!runs.empty()) {
    const MethodFacts& method = evidence.method();
    summary.gaussian = predict(method, {.kind = EntryLaw::Kind::gaussian});
    summary.laplace = predict(method, {.kind = EntryLaw::Kind::laplace});
  }
}

Json assumptions_json(const GroupSummary& group) {
  Json object = Json::object();
  for (const auto& one : group.assumptions) {
    const AssumptionVerdict& verdict = one.verdict;
    Json interval = nullptr;
    if (verdict.interval) {
      interval =
          Json::array({json_number(verdict.interval->low), json_number(verdict.interval->high)});
    }
    Json worst{{"value", json_number(verdict.worst)}, {"run_id", one.worst_run}};
    if (one.worst.value) {
      worst = {{"value", json_number(one.worst.value)},
               {"run_id", one.worst.run_id},
               {"iteration", one.worst.iteration}};
    }
    object[std::string(verdict.name)] = {{"verdict", state_text(verdict.state)},
                                         {"value", json_number(verdict.value)},
                                         {"interval", interval},
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

std::vector<std::string> failed_assumptions(const Summary& summary) {
  std::vector<std::string> lines;
  for (const auto& group : summary.groups) {
    for (const auto& one : group.assumptions) {
      if (one.verdict.state == AssumptionState::fails) {
        lines.push_back(fmt::format("{}: assumption '{}' fails: {}",
                                    printable(group.group.label),
                                    one.verdict.name,
                                    number_with_interval(one.verdict)));
      }
    }
  }
  return lines;
}

std::string verdict_lines(const Summary& summary, std::size_t methods) {
  const auto shown = measured_assumptions(summary);
  std::vector<std::vector<std::string>> rows{{"verdicts"}};
  for (const std::size_t i : shown) {
    rows[0].emplace_back(summary.groups[0].assumptions[i].verdict.name);
  }
  rows[0].insert(rows[0].end(), {"certificate", "slack", "theorems"});
  for (std::size_t g = 0; g < std::min(methods, summary.groups.size()); ++g) {
    rows.push_back(verdict_row(summary.groups[g], shown));
  }
  return aligned(rows);
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
