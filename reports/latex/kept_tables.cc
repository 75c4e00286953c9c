#include "reports/latex/kept_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "reports/results/csv.h"
#include "reports/results/run_list.h"

namespace residuum::reports {
namespace {

/// A line that does not end may lack digits.
void require_whole(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(-1, std::ios::end);
  require(
      !file || file.get() == '\n', "{} is cut short: its last line does not end", path.string());
}

/// A Reach follows a run's measurements up to a budget and to the first one beyond.
class Reach {
 public:
  explicit Reach(double budget) : budget_(budget) {}

  void measure(double spent, double value) {
    if (spent <= budget_) {
      spent_before_ = spent;
      before_ = value;
      ++measured_;
    } else if (!is_beyond_) {
      spent_after_ = spent;
      after_ = value;
      is_beyond_ = true;
    }
  }
  /// Takes note of what the run had spent in all by some row; false if it had spent more before.
  bool spend(double total) {
    const bool rises = total >= total_;
    total_ = total;
    is_spent_ = is_spent_ || total > budget_;
    return rises;
  }
  bool is_spent() const { return is_spent_; }

  std::optional<double> between() const {
    if (measured_ < 2 || !is_beyond_) {
      return std::nullopt;
    }
    const double share = (budget_ - spent_before_) / (spent_after_ - spent_before_);
    return before_ + share * (after_ - before_);
  }

 private:
  double budget_;
  double total_ = 0;
  double spent_before_ = 0;
  double before_ = 0;
  double spent_after_ = 0;
  double after_ = 0;
  int measured_ = 0;
  bool is_beyond_ = false;
  bool is_spent_ = false;
};

/// The iterations whose rows a table has of a run.
struct RowRange {
  double last = -1;
  double step = 1;

  void take(double iteration) {
    step = last < 0 ? 1 : iteration - last;
    last = iteration;
  }
};

/// Returns when a run's iterations ended on a network, by iteration.
std::map<double, double> clock_of(const KeptTable& clocks,
                                  const std::string& run,
                                  const std::string& network) {
  std::map<double, double> ends;
  const auto iteration = clocks.column("iteration");
  const auto name = clocks.column("network");
  const auto seconds = clocks.column("virtual_s");
  for (const auto& row : clocks.rows) {
    if (row.run == run && row.fields[name] == network) {
      if (const auto end = clocks.number(row, seconds)) {
        ends[clocks.number(row, iteration).value_or(0)] = *end;
      }
    }
  }
  require(!ends.empty(), "{} has no network '{}' of {}", clocks.file, network, run);
  return ends;
}

/// A Spending says what a run had spent when f was measured in a row: bytes before the row's
/// iteration, seconds at its end.
class Spending {
 public:
  Spending(const KeptTable& rows, const Budget& budget)
      : rows_(&rows), reach_(budget.amount), each_(bytes_of(budget.cost)) {}

  static std::string bytes_of(const std::string& cost) {
    return cost == "bytes" ? "sent_bytes" : cost == "uplink" ? "uplink_bytes" : "";
  }

  void follow_clock(std::map<double, double> ends, const std::string& run) {
    clock_ = std::move(ends);
    for (const auto& [at, end] : clock_) {
      range_.take(at);
      require(reach_.spend(end), "networks.csv: virtual_s of {} falls to {}", run, end);
    }
  }

  /// Adds a row with its iteration and its measured value.
  void take(const KeptRow& row, double at, std::optional<double> measured) {
    const auto spent = each_.empty() ? seconds_at(at) : bytes_before(row, at);
    if (spent && measured) {
      reach_.measure(*spent, *measured);
    }
  }

  /// True if the run ended within the budget, as its rows show.
  bool has_ended(std::optional<double> iterations) const {
    return !reach_.is_spent() && (!iterations || range_.last + range_.step >= *iterations);
  }
  std::optional<double> between() const { return reach_.between(); }

 private:
  std::optional<double> seconds_at(double at) const {
    const auto found = clock_.find(at);
    return found == clock_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<double> bytes_before(const KeptRow& row, double at) {
    range_.take(at);
    const auto total = rows_->number(row, rows_->column("total_" + each_));
    const auto own = rows_->number(row, rows_->column(each_));
    if (!total || !own) {
      return std::nullopt;
    }
    require(reach_.spend(*total), "{}: total_{} of {} falls", rows_->file, each_, row.run);
    return *total - *own;
  }

  const KeptTable* rows_;
  Reach reach_;
  RowRange range_;
  std::string each_;  // the column of bytes; empty for seconds
  std::map<double, double> clock_;
};

bool is_finite(const std::optional<double>& value) { return value && std::isfinite(*value); }

}  // namespace

std::optional<std::size_t> KeptTable::find(std::string_view name) const {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? std::nullopt : std::optional<std::size_t>(found - header.begin());
}

std::size_t KeptTable::column(std::string_view name) const {
  const auto found = find(name);
  require(found.has_value(),
          "{} has no column '{}'{}; 'residuum list columns' names all",
          file,
          name,
          nearest(name, header).empty() ? "" : suggestion(name, header));
  return *found;
}

std::optional<double> KeptTable::number(const KeptRow& row, std::size_t at) const {
  const std::string& text = row.fields.at(at);
  if (text.empty()) {
    return std::nullopt;
  }
  const auto value = parsed<double>(text);
  require(value.has_value(),
          "{}: {} of {} is '{}', which is no number",
          file,
          header[at],
          row.run,
          text);
  return value;
}

std::string KeptTable::text(const KeptRow& row, const std::string& key) const {
  if (const auto own = find(key)) {
    return row.fields[*own];
  }
  const auto found = row.keys.find(key);
  return found == row.keys.end() ? std::string() : found->second;
}

bool KeptTable::has(const KeptRow& row, const RunKeys& where) const {
  return std::all_of(where.begin(), where.end(), [&](const auto& wanted) {
    return wanted.second == "*" || text(row, wanted.first) == wanted.second;
  });
}

const std::map<std::string, KeptFolder::Owner>& KeptFolder::owners() {
  if (owners_.empty()) {
    require_tables_of_one_data(folder_);
    CsvReader runs(folder_ / "runs.csv");
    const auto status = runs.find("status");
    while (runs.next()) {
      const Owner owner{.keys = keys_in_row(runs),
                        .seed = runs.integer(runs.column("seed")),
                        .has_finished = !status || runs.text(*status) == "finished",
                        .has_diverged = status && runs.text(*status) == "diverged"};
      const auto& run = runs.text(runs.column("run_id"));
      if (!owners_.emplace(run, owner).second) {
        runs.fail(fmt::format("the run {} is there twice", run));
      }
    }
  }
  return owners_;
}

KeptTable KeptFolder::read(const std::string& name) {
  const auto path = folder_ / name;
  CsvReader reader(path);
  require_whole(path);
  KeptTable table{.file = path.string(), .header = {}, .rows = {}};
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < reader.header().size(); ++i) {
    if (columns_.empty() || columns_.contains(reader.header()[i])) {
      kept.push_back(i);
      table.header.push_back(reader.header()[i]);
    }
  }
  while (reader.next()) {
    auto row = row_without_fields(reader, table.rows.size());
    if (!row) {
      continue;
    }
    for (const std::size_t i : kept) {
      row->fields.push_back(reader.text(i));
    }
    table.rows.push_back(*std::move(row));
  }
  return table;
}

std::optional<KeptRow> KeptFolder::row_without_fields(const CsvReader& reader,
                                                      std::size_t position) {
  KeptRow row;
  if (const auto run = reader.find("run_id")) {
    row.run = reader.text(*run);
    const auto found = owners().find(row.run);
    if (found == owners().end()) {
      reader.fail(fmt::format("runs.csv has no run {}", row.run));
    }
    row.keys = found->second.keys;
    row.seed = found->second.seed;
    return found->second.has_finished ? std::optional(row) : std::nullopt;
  }
  const auto method = reader.find("method");
  const auto seed = reader.find("seed");
  row.keys = keys_in_row(reader);
  if (row.keys.empty() && method) {
    row.keys = keys_in_name(reader.text(*method));
  }
  row.seed = seed ? reader.integer(*seed) : position;
  row.run = fmt::format("{}, seed {}", method ? reader.text(*method) : "a row", row.seed);
  return row;
}

std::vector<RunKeys> KeptFolder::methods() {
  std::vector<RunKeys> found;
  CsvReader runs(folder_ / "runs.csv");
  while (runs.next()) {
    const RunKeys keys = keys_in_row(runs);
    if (owners().at(runs.text(runs.column("run_id"))).has_finished &&
        std::find(found.begin(), found.end(), keys) == found.end()) {
      found.push_back(keys);
    }
  }
  return found;
}

std::string KeptFolder::name_of(const RunKeys& method) const {
  CsvReader runs(folder_ / "runs.csv");
  const auto label = runs.find("label");
  while (label && runs.next()) {
    if (keys_in_row(runs) == method && !runs.text(*label).empty()) {
      return std::string(runs.text(*label));
    }
  }
  return method_name(method);
}

bool KeptFolder::has_column(const std::string& table, const std::string& column) const {
  return std::filesystem::exists(folder_ / table) &&
         CsvReader(folder_ / table).find(column).has_value();
}

KeptFolder::LeftOut KeptFolder::left_out() {
  LeftOut count;
  for (const auto& [run, owner] : owners()) {
    count.diverged += owner.has_diverged ? 1 : 0;
    count.unended += owner.has_finished || owner.has_diverged ? 0 : 1;
  }
  return count;
}

const KeptTable& KeptFolder::table(const std::string& name) {
  const auto found = tables_.find(name);
  return found != tables_.end() ? found->second : tables_.emplace(name, read(name)).first->second;
}

std::optional<double> KeptFolder::at_budget(const KeptRow& run,
                                            const std::string& column,
                                            const Budget& budget) {
  const KeptTable& rows = table("iterations.csv");
  const auto iteration = rows.column("iteration");
  const auto loss = rows.column("loss");
  const auto value = rows.column(column);
  Spending spending(rows, budget);
  if (Spending::bytes_of(budget.cost).empty()) {
    spending.follow_clock(clock_of(table("networks.csv"), run.run, budget.cost), run.run);
  }
  std::optional<double> last;
  for (const auto& row : rows.rows) {
    if (row.run != run.run) {
      continue;
    }
    const auto measured = rows.number(row, value);
    const bool is_measured = is_finite(measured) && is_finite(rows.number(row, loss));
    last = measured ? measured : last;
    spending.take(
        row, rows.number(row, iteration).value_or(0), is_measured ? measured : std::nullopt);
  }
  const KeptTable& runs = table("runs.csv");
  if (const auto ends = runs.find("final_" + column)) {
    const auto end = runs.number(run, *ends);
    last = end ? end : last;
  }
  const bool has_ended = spending.has_ended(runs.number(run, runs.column("iterations"))) && last;
  return has_ended ? last : spending.between();
}

double KeptFolder::most_spent(const RunKeys& method, const std::string& cost) {
  const std::string bytes = Spending::bytes_of(cost);
  const KeptTable& rows = table(bytes.empty() ? "networks.csv" : "iterations.csv");
  const auto spent = rows.column(bytes.empty() ? "virtual_s" : "total_" + bytes);
  double most = 0;
  for (const auto& row : rows.rows) {
    const bool is_of_cost = !bytes.empty() || row.fields[rows.column("network")] == cost;
    if (is_of_cost && row.keys == method) {
      most = std::max(most, rows.number(row, spent).value_or(0));
    }
  }
  return most;
}

}  // namespace residuum::reports
