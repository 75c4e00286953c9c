#include "reports/exports/kept_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/record/tables.h"
#include "reports/analysis/measures.h"
#include "reports/exports/summary_tables.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/run_list.h"

namespace residuum::reports {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<std::string_view, RowChoice>, 5> kChoices{
    {{"max", RowChoice::max},
     {"mean", RowChoice::mean},
     {"at", RowChoice::at},
     {"until", RowChoice::until},
     {"within", RowChoice::within}}};

/// Splits the text at the first `separator`; the second part is absent where there is none.
std::pair<std::string, std::optional<std::string>> split(const std::string& text, char separator) {
  const auto at = text.find(separator);
  return at == std::string::npos
             ? std::pair(text, std::optional<std::string>())
             : std::pair(text.substr(0, at), std::optional(text.substr(at + 1)));
}

RowChoice choice_named(const std::string& name, const std::string& word) {
  std::vector<std::string> known;
  for (const auto& choice : kChoices) {
    known.emplace_back(choice.first);
    if (choice.first == name) {
      return choice.second;
    }
  }
  usage_error("--numbers: unknown '{}' in '{}'{}", name, word, suggestion(name, known));
}

/// Reads what stands behind COLUMN:at: or COLUMN:until:.
void read_condition(const std::optional<std::string>& text, RunNumber& number) {
  if (number.choice == RowChoice::at) {
    const auto iteration = text ? parsed<std::uint64_t>(*text) : std::nullopt;
    require(iteration.has_value(),
            "--numbers: '{}' must be COLUMN:at:ITERATION, such as loss_gap:at:177",
            number.word);
    number.iteration = *iteration;
    return;
  }
  if (number.choice != RowChoice::until && number.choice != RowChoice::within) {
    require(!text, "--numbers: '{}' says more than COLUMN:max or COLUMN:mean", number.word);
    return;
  }
  const auto [other, limit] = split(text.value_or(""), '=');
  const auto value = limit ? parsed<double>(*limit) : std::nullopt;
  require(!other.empty() && value && std::isfinite(*value),
          "--numbers: '{}' must end with COLUMN=LIMIT, such as virtual_s:until:loss_gap=0.005",
          number.word);
  number.other = other;
  number.limit = *value;
}

/// Throws a usage error for a column that no table has.
[[noreturn]] void refuse_column(const std::string& column,
                                std::string_view tables,
                                const std::vector<std::string>& known) {
  const std::string near = nearest(column, known);
  usage_error(
      "{} no column '{}'; {}",
      tables,
      column,
      near.empty() ? "residuum list columns names them" : fmt::format("did you mean '{}'?", near));
}

/// Returns the number in a field; nothing for one that is empty, infinite or not a number.
std::optional<double> finite_number(const CsvReader& table, std::size_t column) {
  const auto number = table.number(column);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// The number of one run, as far as its rows have been read.
struct TakenNumber {
  std::string text;  // empty: no row had one
  double value = 0;
  double sum = 0;
  std::size_t rows = 0;
};

/// One row of the kept table: a run that has finished.
struct FinishedRun {
  std::vector<std::string> keys;  // run_id, seed and the varied keys
  std::vector<TakenNumber> numbers;
};

/// The table and the columns from which a number is read.
struct NumberSource {
  RunNumber number;
  bool is_of_runs = false;  // a column of runs.csv, else of iterations.csv
  std::size_t column = 0;
  std::size_t other = 0;
};

NumberSource source_of(const RunNumber& number, const CsvReader& runs, const CsvReader& rows) {
  NumberSource source{.number = number};
  const auto of_runs = runs.find(number.column);
  source.is_of_runs = number.choice == RowChoice::last && of_runs.has_value();
  if (source.is_of_runs) {
    source.column = *of_runs;
    return source;
  }
  const auto own = rows.find(number.column);
  if (!own) {
    std::vector<std::string> known = rows.header();
    if (number.choice == RowChoice::last) {
      known.insert(known.end(), runs.header().begin(), runs.header().end());
    }
    refuse_column(number.column,
                  number.choice == RowChoice::last ? "runs.csv and iterations.csv have"
                                                   : "iterations.csv has",
                  known);
  }
  source.column = *own;
  if (!number.other.empty()) {
    const auto other = rows.find(number.other);
    if (!other) {
      refuse_column(number.other, "iterations.csv has", rows.header());
    }
    source.other = *other;
  }
  return source;
}

bool is_within_limit(const NumberSource& source, const CsvReader& rows) {
  const auto value = finite_number(rows, source.other);
  return value && *value <= source.number.limit;
}

/// Returns whether the current row's number counts, or takes the place of the one before.
bool counts(const NumberSource& source,
            const TakenNumber& taken,
            double value,
            const CsvReader& rows,
            std::uint64_t iteration) {
  switch (source.number.choice) {
    case RowChoice::max:
      return taken.rows == 0 || value > taken.value;
    case RowChoice::at:
      return iteration == source.number.iteration;
    case RowChoice::until:
      return taken.rows == 0 && is_within_limit(source, rows);
    case RowChoice::within:
      return is_within_limit(source, rows);
    case RowChoice::last:
    case RowChoice::mean:
      break;
  }
  return true;
}

void add_row(const NumberSource& source,
             const CsvReader& rows,
             std::uint64_t iteration,
             TakenNumber& taken) {
  const auto value = finite_number(rows, source.column);
  if (!value || !counts(source, taken, *value, rows, iteration)) {
    return;
  }
  taken.text = rows.text(source.column);
  taken.value = *value;
  taken.sum += *value;
  ++taken.rows;
}

std::string text_of(const NumberSource& source, const TakenNumber& taken) {
  return source.number.choice == RowChoice::mean && taken.rows > 0
             ? fmt::format("{:.17g}", taken.sum / static_cast<double>(taken.rows))
             : taken.text;
}

/// Returns where run_id, seed and the varied keys stand in runs.csv.
std::vector<std::size_t> key_columns(const CsvReader& runs) {
  std::vector<std::size_t> columns{runs.column("run_id"), runs.column("seed")};
  for (std::size_t i = 0; i < runs.header().size(); ++i) {
    if (runs.header()[i].starts_with("p_")) {
      columns.push_back(i);
    }
  }
  return columns;
}

/// Reads the finished runs with their numbers of runs.csv.
std::vector<FinishedRun> finished_runs(CsvReader& runs,
                                       const std::vector<std::size_t>& keys,
                                       const std::vector<NumberSource>& sources) {
  const auto status = runs.find("status");
  std::vector<FinishedRun> finished;
  while (runs.next()) {
    if (status && runs.text(*status) != "finished") {
      continue;
    }
    auto& run = finished.emplace_back();
    for (const std::size_t key : keys) {
      run.keys.push_back(runs.text(key));
    }
    run.numbers.resize(sources.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i].is_of_runs && finite_number(runs, sources[i].column)) {
        run.numbers[i].text = runs.text(sources[i].column);
      }
    }
  }
  return finished;
}

/// Adds the numbers of iterations.csv.
void add_rows(CsvReader& rows,
              const std::vector<NumberSource>& sources,
              std::vector<FinishedRun>& finished) {
  std::map<std::string, FinishedRun*> run_named;
  for (auto& run : finished) {
    const bool is_new = run_named.emplace(run.keys.front(), &run).second;
    require(is_new, "runs.csv has the run {} twice", run.keys.front());
  }
  const auto id = rows.column("run_id");
  const auto at = rows.column("iteration");
  while (rows.next()) {
    const auto run = run_named.find(rows.text(id));
    if (run == run_named.end()) {
      continue;
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (!sources[i].is_of_runs) {
        add_row(sources[i], rows, rows.integer(at), run->second->numbers[i]);
      }
    }
  }
}

std::set<std::string> finished_ids(const fs::path& results) {
  std::set<std::string> ids;
  for (const auto& run : listed_runs(read_text_table(results / "runs.csv"))) {
    if (run.state == "finished") {
      ids.insert(run.id);
    }
  }
  return ids;
}

const TableInfo& details_named(const std::string& name, const std::string& word) {
  std::vector<std::string> known = summary_table_names();
  known.emplace_back("late");
  for (const TableInfo* table : kDetailTables) {
    known.emplace_back(table->name);
    if (table->name == name) {
      return *table;
    }
  }
  usage_error("--tables: unknown '{}' in '{}'{}", name, word, suggestion(name, known));
}

TextTable last_details(const fs::path& results, const TableInfo& info, const std::string& column) {
  std::vector<std::string> known;
  for (const auto& own : info.columns) {
    known.emplace_back(own.name);
  }
  if (std::find(known.begin(), known.end(), column) == known.end()) {
    refuse_column(column, fmt::format("{}.csv has", info.name), known);
  }
  const auto ids = finished_ids(results);
  CsvReader reader(results / (std::string(info.name) + ".csv"));
  const auto run = reader.column("run_id");
  const auto iteration = reader.column("iteration");
  const auto key = reader.column(info.key);
  const auto value = reader.column(column);
  TextTable table{.file = std::string(info.name) + ".csv",
                  .header = {"run_id", "iteration", std::string(info.key), column},
                  .rows = {}};
  std::size_t begin = 0;  // of the run's rows
  while (reader.next()) {
    if (!ids.contains(reader.text(run))) {
      continue;
    }
    const bool is_same_run = begin < table.rows.size() && table.rows.back()[0] == reader.text(run);
    if (!is_same_run) {
      begin = table.rows.size();
    } else if (table.rows.back()[1] != reader.text(iteration)) {
      table.rows.resize(begin);  // an earlier iteration
    }
    table.rows.push_back(
        {reader.text(run), reader.text(iteration), reader.text(key), reader.text(value)});
  }
  return table;
}

TextTable lateness(const fs::path& results) {
  TextTable table{.file = "late.csv", .header = {"run_id", "mean", "largest"}, .rows = {}};
  for (const auto& id : finished_ids(results)) {
    require(is_run_id(id), "runs.csv names a run that is no run_id: {}", id);
    const auto file = results / "runs" / id / "staleness.csv";
    std::error_code ignored;
    if (!fs::exists(file, ignored)) {
      continue;
    }
    if (const auto late = staleness_of(read_staleness(file, id))) {
      table.rows.push_back({id, fmt::format("{:.17g}", late->mean), fmt::to_string(late->largest)});
    }
  }
  require(!table.rows.empty(),
          "no finished run of {} has a staleness.csv; probes.staleness = true writes it",
          results.string());
  return table;
}

}  // namespace

RunNumber run_number(const std::string& word) {
  const auto [column, rest] = split(word, ':');
  require(!column.empty(), "--numbers: '{}' names no column", word);
  RunNumber number{.word = word, .column = column};
  if (rest) {
    const auto [name, condition] = split(*rest, ':');
    number.choice = choice_named(name, word);
    read_condition(condition, number);
  }
  return number;
}

TextTable numbers_of_runs(const fs::path& results, const std::vector<RunNumber>& numbers) {
  CsvReader runs(results / "runs.csv");
  CsvReader rows(results / "iterations.csv");
  std::vector<NumberSource> sources;
  std::transform(
      numbers.begin(), numbers.end(), std::back_inserter(sources), [&](const RunNumber& number) {
        return source_of(number, runs, rows);
      });
  const auto keys = key_columns(runs);
  auto finished = finished_runs(runs, keys, sources);
  add_rows(rows, sources, finished);

  TextTable table{.file = "runs.csv", .header = {}, .rows = {}};
  for (const std::size_t key : keys) {
    table.header.push_back(runs.header()[key]);
  }
  for (const auto& number : numbers) {
    table.header.push_back(number.word);
  }
  for (auto& run : finished) {
    auto& row = table.rows.emplace_back(std::move(run.keys));
    for (std::size_t i = 0; i < sources.size(); ++i) {
      row.push_back(text_of(sources[i], run.numbers[i]));
    }
  }
  return table;
}

TextTable further_table(const fs::path& results, const std::string& word) {
  if (word == "late") {
    return lateness(results);
  }
  const auto [name, column] = split(word, '.');
  const TableInfo& info = details_named(name, word);
  require(column && !column->empty(),
          "--tables: '{}' must be TABLE.COLUMN, such as networks.iteration_s, or late",
          word);
  return last_details(results, info, *column);
}

}  // namespace residuum::reports
