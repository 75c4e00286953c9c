#include "reports/terminal/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/text.h"
#include "reports/analysis/short_labels.h"
#include "reports/analysis/words.h"
#include "reports/summaries/summary_json.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {
namespace {

using TextRow = std::vector<std::string>;

/// Counts characters, not bytes: those that do not continue a UTF-8 sequence.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

std::optional<double> median_of(const GroupSummary& group, std::string_view metric) {
  const Spread* spread = group.metric(metric);
  return spread == nullptr ? std::nullopt : spread->median;
}

/// Chooses the gap where every method that finished has one, else the loss.
std::string_view loss_metric(const Summary& summary) {
  bool any = false;
  for (const auto& group : summary.groups) {
    if (group.finished > 0 && group.metric("final_loss_gap") == nullptr) {
      return "final_loss";
    }
    any = any || group.finished > 0;
  }
  return any ? "final_loss_gap" : "final_loss";
}

bool any_has(const Summary& summary, std::string_view metric) {
  return std::any_of(summary.groups.begin(), summary.groups.end(), [&](const auto& group) {
    return group.metric(metric) != nullptr;
  });
}

std::string finished_text(const GroupSummary& group) {
  const std::size_t all = group.group.runs.size();
  return group.finished == all ? fmt::format("{}", all) : fmt::format("{}/{}", group.finished, all);
}

TextRow make_header(std::string_view loss, bool has_accuracy) {
  TextRow row{"method",
              "seeds",
              loss == "final_loss" ? "final loss" : "loss gap",
              "X_T",
              "delta med",
              "delta max",
              "conservation",
              "sent"};
  if (has_accuracy) {
    row.insert(row.begin() + 3, "accuracy");
  }
  return row;
}

TextRow make_row(const GroupSummary& group,
                 const std::string& name,
                 std::string_view loss,
                 bool has_accuracy) {
  TextRow row{name,
              finished_text(group),
              short_number(median_of(group, loss)),
              short_number(median_of(group, "average_grad_norm_sq")),
              short_number(group.delta.median),
              short_number(group.delta.worst.value),
              verdict_text(verdict_of(group.check("conservation"))),
              short_bytes(median_of(group, "sent_bytes"))};
  if (has_accuracy) {
    row.insert(row.begin() + 3, short_number(median_of(group, "final_test_accuracy")));
  }
  return row;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string plain;
  std::size_t characters = 0;
  for (const char c : harmless(text)) {
    characters += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1 : 0;
    if (characters == kLongestName) {
      return plain + "…";
    }
    plain += c;
  }
  return plain;
}

std::string aligned(const std::vector<TextRow>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - width(row[i]), ' ');
      line += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    text += line + '\n';
  }
  return text;
}

std::string aligned_within(const std::vector<TextRow>& rows, std::size_t most) {
  constexpr std::size_t kSpace = 2;
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i]));
    }
  }
  std::string text;
  for (std::size_t begin = 1; begin < widths.size();) {
    std::size_t end = begin;
    std::size_t line = widths[0];
    while (end < widths.size() && (end == begin || line + kSpace + widths[end] <= most)) {
      line += kSpace + widths[end++];
    }
    std::vector<TextRow> block;
    for (const auto& row : rows) {
      block.push_back({row.front()});
      block.back().insert(block.back().end(),
                          row.begin() + static_cast<std::ptrdiff_t>(begin),
                          row.begin() + static_cast<std::ptrdiff_t>(end));
    }
    text += aligned(block);
    begin = end;
  }
  return text;
}

std::string study_table(const Summary& summary, std::size_t lines) {
  const std::string_view loss = loss_metric(summary);
  const bool has_accuracy = any_has(summary, "final_test_accuracy");
  const std::size_t room = std::max<std::size_t>(lines, 3) - 1;
  const std::size_t all = summary.groups.size();
  const std::size_t shown = all <= room ? all : room - 1;

  const auto names = printable_labels(summary);
  std::vector<TextRow> rows{make_header(loss, has_accuracy)};
  for (std::size_t i = 0; i < shown; ++i) {
    const auto& group = summary.groups[i];
    rows.push_back(make_row(group, names.at(group.group.label), loss, has_accuracy));
  }
  std::string text = aligned(rows);
  if (shown < all) {
    text += fmt::format("... and {} more; all are in runs.csv and report.html\n", all - shown);
  }
  return text;
}

Json study_table_json(const Summary& summary) {
  Json rows = Json::array();
  for (const auto& group : summary.groups) {
    Json row{{"method", group.group.label},
             {"varying", group.group.varying},
             {"seeds", group.group.runs.size()},
             {"finished", group.finished},
             {"diverged", group.diverged}};
    for (const auto& [name, spread] : group.metrics) {
      row[name] = to_json(spread);
    }
    row["assumptions"] = assumptions_json(group);
    row["prediction"] = prediction_json(group);
    if (const TheoremSummary* certificate = group.certificate()) {
      row["certificate"] = {{"verdict", verdict_text(certificate->bound.verdict)},
                            {"slack", json_number(certificate->bound.slack)}};
    }
    row["delta_median"] = json_number(group.delta.median);
    row["delta_max"] = json_number(group.delta.worst.value);
    row["delta_fraction_held"] = json_number(group.delta.fraction());
    row["contraction_max"] = json_number(group.contraction.worst.value);
    row["conservation"] = verdict_text(verdict_of(group.check("conservation")));
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

using Names = std::vector<std::string>;

}  // namespace

std::map<std::string, std::string> printable_names(const Names& names) {
  const std::set<std::string> different(names.begin(), names.end());
  std::map<std::string, std::size_t> count;
  Names texts;
  for (const auto& name : different) {
    const std::string text = harmless(name);
    const std::size_t number = ++count[text];
    texts.push_back(number == 1 ? text : fmt::format("{} [{}]", text, number));
  }
  const Names cut = cut_apart(texts, kLongestName);
  std::map<std::string, std::string> shown;
  auto text = cut.begin();
  for (const auto& name : different) {
    shown[name] = *text++;
  }
  return shown;
}

std::map<std::string, std::string> printable_labels(const Summary& summary) {
  Names labels;
  for (const auto& group : summary.groups) {
    labels.push_back(group.group.label);
  }
  return printable_names(labels);
}

}  // namespace residuum::reports
