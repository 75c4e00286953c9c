#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "reports/analysis/practice.h"
#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

using HtmlRow = std::vector<Cell>;

std::string_view css_class(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
    case Verdict::held_here:
      return "pass";
    case Verdict::fail:
      return "fail";
    case Verdict::known:
      return "known";
    case Verdict::not_looked:
      break;
  }
  return "none";
}

std::string badge(Verdict verdict) {
  return fmt::format("<span class=\"{}\">{}</span>", css_class(verdict), verdict_text(verdict));
}

std::string where(const Extreme& place) { return fmt::format("at t = {}", place.iteration); }

Cell conservation_cell(const GroupSummary& group) {
  Cell cell{.html = badge(verdict_of(group.check("conservation"))), .is_number = false};
  const Extreme& defect = group.conservation_defect;
  if (defect.value) {
    cell.html += small(fmt::format("defect ≤ {} {}", short_number(defect.value), where(defect)));
  }
  return cell;
}

Cell others_cell(const GroupSummary& group) {
  Cell cell{.html = badge(verdict_of_others(group)), .is_number = false};
  for (const auto& check : group.checks) {
    if (!check.holds && check.name != "conservation") {
      cell.html += small(fmt::format(
          "{}: {} of {}, worst {}", check.name, check.failures, check.n, where(check.worst)));
    }
  }
  return cell;
}

Cell place_cell(const Extreme& place) {
  Cell cell = number_cell(short_number(place.value));
  cell.value = place.value;
  if (place.value && *place.value > 0) {
    cell.html += small(where(place));
  }
  return cell;
}

Cell invariants_cell(const RunVerdict& run) {
  if (!run.measured) {
    return text_cell("–");
  }
  if (run.invariants) {
    return {.html = badge(Verdict::pass), .is_number = false};
  }
  return {.html = badge(Verdict::fail) + small(run.failed_check), .is_number = false};
}

std::string runs_text(const GroupSummary& group) {
  const std::size_t all = group.group.runs.size();
  std::string text = fmt::format("{}", all);
  if (group.diverged > 0) {
    text += fmt::format(", {} diverged", group.diverged);
  }
  const std::size_t rest = all - group.finished - group.diverged;
  if (rest > 0) {
    text += fmt::format(", {} not finished", rest);
  }
  return text;
}

Cell spread_cell(const Spread* spread, IntervalKind kind) {
  if (spread == nullptr) {
    return number_cell(short_number(std::nullopt));
  }
  const Centre centre = centre_with_misses(spread->values, kind);
  Cell cell = number_cell(short_number(centre.middle, digits_for(centre.interval)));
  cell.value = centre.middle;
  if (centre.interval) {
    cell.html += small(short_interval(*centre.interval));
  }
  return cell;
}

struct ResultColumn {
  std::string_view metric;
  std::string_view title;
};

/// Returns the columns of the results table for which at least one method has a value.
std::vector<ResultColumn> result_columns(const Summary& summary) {
  std::vector<ResultColumn> columns{{"final_loss", "final loss"},
                                    {"final_loss_gap", "final loss gap"},
                                    {"average_grad_norm_sq", "X_T"},
                                    {"final_grad_norm_sq", "final ‖∇f‖²"},
                                    {"final_test_loss", "test loss"},
                                    {"final_test_accuracy", "test accuracy"},
                                    {"final_test_perplexity", "test perplexity"},
                                    {"total_error", "total error"}};
  columns.erase(std::remove_if(columns.begin(),
                               columns.end(),
                               [&](const ResultColumn& column) {
                                 return std::none_of(summary.groups.begin(),
                                                     summary.groups.end(),
                                                     [&](const GroupSummary& group) {
                                                       return group.metric(column.metric) !=
                                                              nullptr;
                                                     });
                               }),
                columns.end());
  return columns;
}

Cell median_cell(const GroupSummary& group, std::string_view metric, bool is_bytes) {
  const Spread* spread = group.metric(metric);
  const auto value = spread == nullptr ? std::nullopt : spread->median;
  Cell cell = number_cell(is_bytes ? short_bytes(value) : short_number(value));
  cell.value = value;
  return cell;
}

/// A number that tables are sorted by.
Cell value_cell(const std::optional<double>& value) {
  Cell cell = number_cell(short_number(value));
  cell.value = value;
  return cell;
}

/// The use of a table with a row per method.
TableUse sorted_use(std::string_view id, const Summary& summary) {
  TableUse use{.id = std::string(id), .caption = {}, .is_searched = false, .methods = {}};
  for (std::size_t i = 0; i < summary.groups.size(); ++i) {
    use.methods.emplace_back(i);
  }
  return use;
}

/// Returns the method of every run; runs without config.json are of none.
std::vector<std::optional<std::size_t>> methods_of_runs(const Summary& summary) {
  std::vector<std::optional<std::size_t>> methods(summary.folder.runs.size());
  for (std::size_t i = 0; i < summary.groups.size(); ++i) {
    for (const std::size_t run : summary.groups[i].group.runs) {
      methods[run] = i;
    }
  }
  return methods;
}

/// Returns the values that a run has of the swept keys, in the order of the study's keys.
std::vector<Cell> key_cells(const Summary& summary, const Run& run) {
  std::vector<Cell> cells;
  for (const auto& key : summary.folder.varying_keys) {
    const auto found = run.varying.find(key);
    cells.push_back(text_cell(found == run.varying.end() ? "–" : plain_text(*found)));
  }
  return cells;
}

void flatten(const Json& value, const std::string& key, std::vector<HtmlRow>& rows) {
  if (value.is_object()) {
    for (const auto& [name, inner] : value.items()) {
      flatten(inner, key.empty() ? name : fmt::format("{}.{}", key, name), rows);
    }
    return;
  }
  if (!value.is_null()) {
    rows.push_back({text_cell(key), text_cell(plain_text(value))});
  }
}

}  // namespace

Cell method_cell(const GroupSummary& group) {
  Cell cell = text_cell(group.group.label);
  const std::string misses = group.misses();
  if (!misses.empty()) {
    cell.html += fmt::format("<small class=\"fail\">{}</small>", escape(misses));
  }
  return cell;
}

std::string invariants_table(const Summary& summary) {
  const HtmlRow header{text_cell("method"),
                       text_cell("seeds"),
                       text_cell("conservation"),
                       text_cell("other invariants"),
                       number_cell("largest δ"),
                       number_cell("largest q"),
                       number_cell("largest lost mass ‖ℓ‖²")};
  std::vector<HtmlRow> rows;
  for (const auto& group : summary.groups) {
    rows.push_back({text_cell(group.group.label),
                    text_cell(runs_text(group)),
                    conservation_cell(group),
                    others_cell(group),
                    place_cell(group.delta.worst),
                    place_cell(group.contraction.worst),
                    place_cell(group.lost_mass)});
  }
  return table(header, rows, sorted_use("invariants-table", summary));
}

std::string results_table(const Summary& summary, IntervalKind kind) {
  const auto columns = result_columns(summary);
  HtmlRow header{text_cell("method"), text_cell("seeds")};
  for (const auto& column : columns) {
    header.push_back(number_cell(column.title));
  }
  for (const char* title : {"δ median", "bytes sent", "wall time, s"}) {
    header.push_back(number_cell(title));
  }
  std::vector<HtmlRow> rows;
  for (const auto& group : summary.groups) {
    HtmlRow row{method_cell(group), text_cell(runs_text(group))};
    for (const auto& column : columns) {
      row.push_back(spread_cell(group.metric(column.metric), kind));
    }
    row.push_back(value_cell(group.delta.median));
    row.push_back(median_cell(group, "sent_bytes", true));
    row.push_back(median_cell(group, "wall_s", false));
    rows.push_back(std::move(row));
  }
  return fmt::format(
             "<p>Over the seeds: {}; δ, bytes and wall time are medians, the last two of the "
             "finished runs.{}</p>\n",
             interval_words(kind),
             summary.states.contains("diverged")
                 ? " A run that diverged has ended at infinity, with an accuracy of 0."
                 : "") +
         table(header, rows, sorted_use("results-table", summary));
}

std::string checks_table(const Summary& summary) {
  const HtmlRow header{text_cell("method"),
                       text_cell("invariant"),
                       text_cell("verdict"),
                       number_cell("looked at"),
                       number_cell("failures"),
                       number_cell("worst lhs / rhs"),
                       text_cell("where")};
  std::vector<HtmlRow> rows;
  TableUse use;
  for (std::size_t g = 0; g < summary.groups.size(); ++g) {
    const GroupSummary& group = summary.groups[g];
    for (const auto& check : group.checks) {
      use.methods.emplace_back(g);
      rows.push_back(
          {text_cell(group.group.label),
           text_cell(check.name),
           {.html = badge(verdict_of(&check)), .is_number = false},
           number_cell(fmt::format("{}", check.n)),
           number_cell(fmt::format("{}", check.failures)),
           number_cell(short_number(check.worst.value)),
           text_cell(check.worst.value
                         ? fmt::format("{}, t = {}", check.worst.run_id, check.worst.iteration)
                         : std::string())});
    }
  }
  return table(header, rows, use);
}

std::string practice_table(const Summary& summary) {
  std::vector<HtmlRow> rows;
  TableUse use;
  bool says_anything = false;
  for (const auto& group : summary.groups) {
    use.methods.emplace_back(use.methods.size());
    std::string words;
    for (const auto& word : practice_of(summary.folder.runs[group.group.runs.front()])) {
      words += (words.empty() ? "" : "; ") + word;
    }
    says_anything = says_anything || !words.empty();
    rows.push_back({text_cell(group.group.label), text_cell(words.empty() ? "–" : words)});
  }
  return says_anything ? table({text_cell("method"), text_cell("practice")}, rows, use)
                       : std::string();
}

std::string names_table(const Summary& summary) {
  const auto groups = groups_of(summary);
  std::vector<std::size_t> all(groups.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<HtmlRow> rows;
  for (const auto& [shown, whole] : cut_words(groups, all)) {
    rows.push_back({text_cell(shown), text_cell(whole)});
  }
  return rows.empty() ? std::string()
                      : table({text_cell("in names"), text_cell("stands for")}, rows);
}

std::string runs_table(const Summary& summary) {
  HtmlRow header{text_cell("run"), text_cell("method")};
  for (const auto& key : summary.folder.varying_keys) {
    header.push_back(key_cell(key));
  }
  for (const char* title : {"seed", "state", "invariants"}) {
    header.push_back(text_cell(title));
  }
  for (const char* title : {"largest δ", "largest q", "iterations", "final loss", "wall time, s"}) {
    header.push_back(number_cell(title));
  }
  header.push_back(text_cell("message"));
  std::vector<HtmlRow> rows;
  const auto labels = method_labels(summary.folder);
  for (std::size_t i = 0; i < summary.folder.runs.size(); ++i) {
    const Run& run = summary.folder.runs[i];
    const RunVerdict& verdict = summary.runs[i];
    const bool is_finished = run.state == "finished";
    HtmlRow row{{.html = fmt::format("<code>{}</code>", escape(run.id)), .is_number = false},
                text_cell(run.is_known ? labels[i] : "")};
    for (auto& cell : key_cells(summary, run)) {
      row.push_back(std::move(cell));
    }
    row.push_back(text_cell(run.is_known ? fmt::format("{}", run.seed) : ""));
    row.push_back(
        {.html = fmt::format(
             "<span class=\"{}\">{}</span>", is_finished ? "none" : "fail", escape(run.state)),
         .is_number = false});
    row.push_back(invariants_cell(verdict));
    row.push_back(value_cell(verdict.delta.worst.value));
    row.push_back(value_cell(verdict.contraction.worst.value));
    for (const char* path : {"iterations", "final.loss", "wall_s"}) {
      row.push_back(value_cell(number_at(run.status, path)));
    }
    row.push_back(text_cell(run.message));
    rows.push_back(std::move(row));
  }
  return table(header,
               rows,
               {.id = "runs-table",
                .caption = {},
                .is_searched = true,
                .methods = methods_of_runs(summary)});
}

std::string facts_table(const Json& object) {
  std::vector<HtmlRow> rows;
  flatten(object, "", rows);
  return table({text_cell("what"), text_cell("value")}, rows);
}

}  // namespace residuum::reports
