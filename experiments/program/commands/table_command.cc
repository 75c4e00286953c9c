// `residuum table` prints numbers of each method of a result folder, as means over the seeds with
// intervals, or their differences to a baseline of the same seeds.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/report_options.h"
#include "reports/latex/kept_cell.h"
#include "reports/results/csv.h"
#include "reports/results/run_list.h"

namespace residuum {
namespace {

using reports::KeptCell;
using reports::KeptFolder;
using reports::RunKeys;
using reports::Take;

/// Splits "KEY=VALUE", which `form` calls so; the value may be empty.
std::pair<std::string, std::string> setting_in(const std::string& word,
                                               std::string_view option,
                                               std::string_view form = "KEY=VALUE") {
  const auto equals = word.find('=');
  require(
      equals != std::string::npos && equals > 0, "{} is '{}', but must be {}", option, word, form);
  return {word.substr(0, equals), word.substr(equals + 1)};
}

std::pair<std::string, double> limit_in(const std::string& word,
                                        std::string_view option,
                                        std::string_view form = "COLUMN=LIMIT") {
  const auto [key, text] = setting_in(word, option, form);
  const auto number = parsed<double>(text);
  require(number && std::isfinite(*number), "{} is '{}', but must be {}", option, word, form);
  return {key, *number};
}

/// Reads --budget: bytes, uplink or a network, and how much of it.
reports::Budget budget_in(const std::string& word) {
  constexpr std::string_view kForm = "COST=AMOUNT";
  const auto [cost, text] = setting_in(word, "--budget", kForm);
  if (cost == "bytes" || cost == "uplink") {
    return {.cost = cost, .amount = byte_amount(text, "--budget")};
  }
  const double amount = limit_in(word, "--budget", kForm).second;
  require(amount > 0, "--budget is '{}', but must be above 0", word);
  return {.cost = cost, .amount = amount};
}

RunKeys settings_in(const std::vector<std::string>& words, std::string_view option) {
  RunKeys keys;
  for (const auto& word : words) {
    keys.insert_or_assign(setting_in(word, option).first, setting_in(word, option).second);
  }
  return keys;
}

Take take_named(const std::string& name) {
  return name == "max"    ? Take::max
         : name == "mean" ? Take::mean
         : name == "rate" ? Take::rate
                          : Take::last;
}

/// The columns that are read; of runs.csv these are the ends of what a run has spent, too.
std::set<std::string> columns_to_read(const TableOptions& given) {
  std::set<std::string> columns{"run_id",
                                "iteration",
                                "loss",
                                "network",
                                "virtual_s",
                                "sent_bytes",
                                "uplink_bytes",
                                "total_sent_bytes",
                                "total_uplink_bytes",
                                "iterations"};
  for (const auto& column : given.columns) {
    columns.insert(column);
    columns.insert("final_" + column);
  }
  for (const auto& key : settings_in(given.where, "--where")) {
    columns.insert(key.first);
  }
  if (given.until) {
    columns.insert(limit_in(*given.until, "--until").first);
  }
  return columns;
}

/// A column is one of iterations.csv where that has it, else one of runs.csv.
std::string table_with(const KeptFolder& folder,
                       const TableOptions& given,
                       const std::string& column) {
  if (given.table) {
    return *given.table;
  }
  const bool is_of_runs =
      folder.has_column("runs.csv", column) && !folder.has_column("iterations.csv", column);
  return is_of_runs ? "runs.csv" : "iterations.csv";
}

/// Returns the rows that a method has: every varied key has its value, or none.
RunKeys rows_of_method(const RunKeys& method, const std::vector<RunKeys>& methods) {
  RunKeys where;
  for (const auto& other : methods) {
    for (const auto& key : other) {
      where.emplace(key.first, "");
    }
  }
  for (const auto& [key, value] : method) {
    where[key] = value;
  }
  return where;
}

bool any_has(const std::vector<RunKeys>& methods, const RunKeys& where) {
  const auto value_in = [](const RunKeys& keys, const std::string& key) {
    const auto found = keys.find(key);
    return found == keys.end() ? std::string() : found->second;
  };
  return std::any_of(methods.begin(), methods.end(), [&](const RunKeys& method) {
    return std::all_of(where.begin(), where.end(), [&](const auto& wanted) {
      return wanted.second == "*" || value_in(method, wanted.first) == wanted.second;
    });
  });
}

/// Returns what a baseline's runs have that the method's do not: the texts of --minus, and anything
/// in the keys that --by leaves out.
RunKeys baseline_of(const RunKeys& method, const RunKeys& minus, const std::string& by) {
  RunKeys changes;
  for (const auto& key : method) {
    if (by != "all" && key.first != by) {
      changes[key.first] = "*";
    }
  }
  require(by == "all" || by == "none" || method.contains(by),
          "--by is '{}', but must be all, none or a varied key",
          by);
  for (const auto& [key, value] : minus) {
    require(method.contains(key), "--minus: no run has the varied key '{}'", key);
    changes[key] = value;
  }
  return changes;
}

/// Returns a cell, or why there is none: a method whose runs lack the number leaves the others'.
std::string cell_or_reason(const KeptCell& cell, reports::KeptFolders& folders) {
  try {
    return reports::kept_cell(cell, folders);
  } catch (const Error& error) {
    const std::string reason = error.what();
    const std::string place = cell.place + ": ";
    if (!reason.starts_with(place)) {
      throw;
    }
    return reason.substr(place.size());
  }
}

/// Returns the rows that --where leaves of a method's; nothing if that asks for other methods.
std::optional<RunKeys> chosen_rows(const RunKeys& method, const RunKeys& chosen) {
  RunKeys where = method;
  for (const auto& [key, value] : chosen) {
    const auto own = method.find(key);
    if (own != method.end() && value != "*" && own->second != value) {
      return std::nullopt;
    }
    where.try_emplace(key, value);
  }
  return where;
}

/// True if the runs that a cell subtracts are there, and are not the method's own.
bool is_compared(const RunKeys& method, const KeptCell& cell, const std::vector<RunKeys>& methods) {
  RunKeys other = rows_of_method(method, methods);
  for (const auto& [key, value] : *cell.minus) {
    other.insert_or_assign(key, value);
  }
  return !any_has({method}, other) && any_has(methods, other);
}

/// Returns what all cells of a method's row have in common; nothing where the method is not asked
/// for.
std::optional<KeptCell> cell_of_method(const RunKeys& method,
                                       const std::vector<RunKeys>& methods,
                                       const TableOptions& given) {
  const RunKeys own = rows_of_method(method, methods);
  const auto where = chosen_rows(own, settings_in(given.where, "--where"));
  if (!where) {
    return std::nullopt;
  }
  KeptCell cell;
  cell.folder = given.folder.string();
  cell.where = *where;
  if (const auto baseline = settings_in(given.minus, "--minus"); !baseline.empty()) {
    cell.minus = baseline_of(own, baseline, given.by);
    cell.tests = static_cast<int>(given.tests.value_or(0));
    if (!is_compared(method, cell, methods)) {
      return std::nullopt;
    }
  }
  cell.take = take_named(given.take);
  cell.digits = -1;
  cell.missing = "–";
  cell.scale = given.scale;
  if (given.budget) {
    cell.budget = budget_in(*given.budget);
  }
  if (given.until) {
    cell.until = limit_in(*given.until, "--until");
  }
  return cell;
}

/// The texts of one method's row.
std::vector<std::string> row_of_method(const RunKeys& method,
                                       KeptCell cell,
                                       const TableOptions& given,
                                       reports::KeptFolders& folders) {
  const KeptFolder& folder = folders.at(cell.folder);
  std::vector<std::string> row{folder.name_of(method)};
  for (const auto& column : given.columns) {
    cell.column = column;
    cell.place = column;
    cell.table = table_with(folder, given, column);
    row.push_back(cell_or_reason(cell, folders));
    KeptCell count = cell;
    count.statistic = cell.minus ? reports::CellStatistic::needed : reports::CellStatistic::count;
    row.push_back(cell_or_reason(count, folders));
  }
  return row;
}

/// Returns in words which methods ended before they had spent the budget; one that no run reaches
/// is refused.
std::string note_on_ends(KeptFolder& folder,
                         const std::vector<RunKeys>& methods,
                         const reports::Budget& budget) {
  double most = 0;
  std::vector<std::string> ended;
  for (const auto& method : methods) {
    const double spent = folder.most_spent(method, budget.cost);
    most = std::max(most, spent);
    if (spent < budget.amount) {
      ended.push_back(fmt::format("{} ({:g})", folder.name_of(method), spent));
    }
  }
  require(ended.size() < methods.size(),
          "--budget: no run spends {}={:g}; the most is {:g}",
          budget.cost,
          budget.amount,
          most);
  return ended.empty() ? std::string()
                       : fmt::format("Below the budget at their end, and shown as they ended: {}.",
                                     fmt::join(ended, ", "));
}

std::string note_on_left_out(const KeptFolder::LeftOut& count) {
  std::string note;
  const auto add = [&](std::size_t runs, const char* one, const char* many) {
    if (runs > 0) {
      note +=
          fmt::format("{}{} {}", note.empty() ? "Left out: " : "; ", runs, runs == 1 ? one : many);
    }
  };
  add(count.diverged, "run that diverged", "runs that diverged");
  add(count.unended, "run that has not ended", "runs that have not ended");
  return note.empty() ? note : note + '.';
}

void print_note(const std::string& note) {
  if (!note.empty()) {
    fmt::print("\n{}\n", harmless(note));
  }
}

/// A second folder in the place of a column is a usage error that says what to do.
void require_one_folder(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) {
    std::error_code ignored;
    require(
        !std::filesystem::is_directory(column, ignored),
        "'{}' is a folder: a table is of one; join them by residuum report DIR DIR --out JOINED",
        column);
  }
}

/// A key that no method and no column has is a usage error.
void require_known_keys(const TableOptions& given,
                        const std::vector<RunKeys>& methods,
                        const KeptFolder& folder) {
  for (const auto& [key, value] : settings_in(given.where, "--where")) {
    const auto has_key = [&, &name = key](const RunKeys& method) { return method.contains(name); };
    require(std::any_of(methods.begin(), methods.end(), has_key) ||
                folder.has_column("runs.csv", key) ||
                folder.has_column(given.table.value_or("iterations.csv"), key),
            "--where: no method varies '{}', and no column has that name",
            key);
  }
}

void print_row(const std::vector<std::string>& cells) {
  fmt::print("| {} |\n", harmless(fmt::to_string(fmt::join(cells, " | "))));
}

}  // namespace

ExitCode table_command(const Options& options) {
  const TableOptions& given = options.table;
  constexpr std::int64_t kMostTests = 1'000'000;
  require(!given.tests || (*given.tests >= 1 && *given.tests <= kMostTests),
          "--tests is {}, but must be from 1 to {}",
          given.tests.value_or(0),
          kMostTests);
  require_one_folder(given.columns);
  require(!(given.until && given.budget), "give one of --until and --budget");
  reports::KeptFolders folders;
  KeptFolder& folder =
      folders.try_emplace(given.folder.string(), KeptFolder(given.folder, columns_to_read(given)))
          .first->second;
  const auto methods = folder.methods();
  require_known_keys(given, methods, folder);
  std::vector<std::string> heads{"method"};
  for (const auto& column : given.columns) {
    heads.push_back(column);
    heads.emplace_back(given.minus.empty() ? "runs" : "seeds that would decide");
  }
  std::vector<std::vector<std::string>> rows;
  std::vector<RunKeys> shown;
  for (const auto& method : methods) {
    if (auto cell = cell_of_method(method, methods, given)) {
      shown.push_back(method);
      rows.push_back(row_of_method(method, *std::move(cell), given, folders));
    }
  }
  require(!rows.empty(),
          "no method of {} has these settings and a baseline; change --where or --minus",
          given.folder.string());
  const std::string ends =
      given.budget ? note_on_ends(folder, shown, budget_in(*given.budget)) : "";
  print_row(heads);
  print_row(std::vector<std::string>(heads.size(), "---"));
  std::for_each(rows.begin(), rows.end(), print_row);
  print_note(ends);
  print_note(note_on_left_out(folder.left_out()));
  return ExitCode::done;
}

}  // namespace residuum
