#include "reports/exports/epoch_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "reports/results/csv.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {
namespace {

constexpr double kLargestSummed = 1e150;  // sums of larger numbers, or of their squares, overflow
constexpr double kPassTolerance = 1e-9;   // a pass that was added up may lack its last digits

/// The columns of iterations.csv that are read.
struct EpochColumns {
  explicit EpochColumns(const CsvReader& table)
      : run(table.column("run_id")),
        iteration(table.column("iteration")),
        epoch(table.column("epoch")),
        loss(table.column("loss")),
        delta(table.column("delta")),
        contraction(table.column("contraction")),
        accuracy(table.column("test_accuracy")),
        perplexity(table.find("test_perplexity")) {}

  std::size_t run;
  std::size_t iteration;
  std::size_t epoch;
  std::size_t loss;
  std::size_t delta;
  std::size_t contraction;
  std::size_t accuracy;
  std::optional<std::size_t> perplexity;
};

std::optional<double> finite_at(const CsvReader& table, std::size_t column) {
  const auto number = table.number(column);
  return number && std::abs(*number) < kLargestSummed ? number : std::nullopt;
}

/// A MeanOfEpoch adds up the measured values.
struct MeanOfEpoch {
  void add(std::optional<double> value) {
    if (value) {
      sum += *value;
      ++count;
    }
  }
  /// Six digits; empty where nothing was measured.
  std::string text() const {
    return count > 0 ? fmt::format("{:.6g}", sum / static_cast<double>(count)) : std::string();
  }

  double sum = 0;
  std::int64_t count = 0;
};

/// An Epoch adds up the rows of one epoch of a run.
class Epoch {
 public:
  Epoch(const ListedRun& run, double number) : run_(&run), number_(number) {}

  bool is(const ListedRun& run, double number) const { return run_ == &run && number_ == number; }

  void add(const CsvReader& table, const EpochColumns& columns) {
    ++rows_;
    const auto keep_last = [&](std::size_t column, std::string& text) {
      text = finite_at(table, column) ? table.text(column) : text;
    };
    keep_last(columns.loss, loss_);
    keep_last(columns.accuracy, accuracy_);
    if (columns.perplexity) {
      keep_last(*columns.perplexity, perplexity_);
    }
    contraction_.add(finite_at(table, columns.contraction));
    const auto delta = finite_at(table, columns.delta);
    delta_.add(delta);
    if (delta && (largest_text_.empty() || *delta > largest_)) {
      largest_ = *delta;
      largest_text_ = table.text(columns.delta);
    }
    above_1_ += delta && *delta > 1 ? 1 : 0;
  }

  const std::string& label() const { return run_->label; }

  std::vector<std::string> row() const {
    return {run_->method,
            run_->seed,
            format_integer(number_),
            fmt::to_string(rows_),
            loss_,
            delta_.text(),
            contraction_.text(),
            accuracy_,
            perplexity_,
            largest_text_,
            delta_.count > 0 ? fmt::to_string(above_1_) : std::string()};
  }

 private:
  const ListedRun* run_;
  double number_;
  std::int64_t rows_ = 0;
  std::int64_t above_1_ = 0;
  double largest_ = 0;
  MeanOfEpoch delta_;
  MeanOfEpoch contraction_;
  std::string loss_;
  std::string accuracy_;
  std::string perplexity_;
  std::string largest_text_;
};

double finite_or_fail(const CsvReader& table, std::size_t column) {
  const auto number = finite_at(table, column);
  if (!number) {
    table.fail(fmt::format("'{}' in column '{}' is not a finite number",
                           table.text(column),
                           table.header().at(column)));
  }
  return *number;
}

/// An EpochClock says in which epoch each row lies.
class EpochClock {
 public:
  EpochClock(const CsvReader& table, const EpochColumns& columns, std::optional<std::int64_t> parts)
      : table_(&table), columns_(&columns), parts_(parts) {}

  /// The epoch of the current row, whose iteration must be above the one before of its run.
  double epoch_of(const ListedRun& run) {
    const double iteration = finite_or_fail(*table_, columns_->iteration);
    const auto [latest, is_first] = latest_.try_emplace(&run, iteration);
    if (!is_first && iteration <= latest->second) {
      table_->fail(fmt::format("iteration {} of {} comes after {}",
                               table_->text(columns_->iteration),
                               run.id,
                               format_integer(latest->second)));
    }
    latest->second = iteration;
    const double pass = finite_or_fail(*table_, columns_->epoch);
    if (!parts_) {
      return std::trunc(pass + kPassTolerance);
    }
    if (run.iterations.value_or(0) == 0) {
      table_->fail(fmt::format("runs.csv has no iterations of the run {}", run.id));
    }
    return std::trunc(iteration * static_cast<double>(*parts_) / *run.iterations);
  }

 private:
  const CsvReader* table_;
  const EpochColumns* columns_;
  std::optional<std::int64_t> parts_;
  std::map<const ListedRun*, double> latest_;  // iteration
};

std::map<std::string_view, const ListedRun*> runs_by_id(const std::vector<ListedRun>& runs) {
  std::map<std::string_view, const ListedRun*> found;
  for (const auto& run : runs) {
    found.emplace(run.id, &run);
  }
  return found;
}

/// True if the folder was made by `residuum keep`.
bool was_kept(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "epochs.csv", ignored) ||
         std::filesystem::exists(folder / "quarters.csv", ignored);
}

TextTable kept_table(const std::filesystem::path& folder, std::optional<std::int64_t> parts) {
  require(!parts || *parts == kQuarters,
          "{} keeps not every iteration, and tables by epoch and by quarters alone; give 4 parts "
          "or none",
          folder.string());
  const char* const name = parts ? "quarters.csv" : "epochs.csv";
  require(std::filesystem::exists(folder / name),
          "{} keeps not every iteration, and has no {}",
          folder.string(),
          name);
  return read_text_table(folder / name);
}

}  // namespace

TextTable epoch_table(const EpochRequest& request) {
  const auto runs = runs_by_id(request.runs);
  CsvReader table(request.iterations);
  const EpochColumns columns(table);
  EpochClock clock(table, columns, request.parts);
  TextTable by_epoch{.file = "epochs.csv",
                     .header = {"method",
                                "seed",
                                "epoch",
                                "measured",
                                "loss",
                                "delta",
                                "contraction",
                                "test_accuracy",
                                "test_perplexity",
                                "delta_max",
                                "delta_above_1"},
                     .rows = {}};
  std::vector<Epoch> epochs;
  while (table.next()) {
    const auto found = runs.find(table.text(columns.run));
    if (found == runs.end()) {
      if (!request.leave_out_others) {
        table.fail(fmt::format("runs.csv has no run {}", table.text(columns.run)));
      }
      continue;
    }
    const ListedRun& run = *found->second;
    const double now = clock.epoch_of(run);
    if (epochs.empty() || !epochs.back().is(run, now)) {
      epochs.emplace_back(run, now);
    }
    epochs.back().add(table, columns);
  }
  for (const auto& epoch : epochs) {
    by_epoch.rows.push_back(epoch.row());
  }
  if (request.with_labels) {
    by_epoch.header.insert(by_epoch.header.begin(), "label");
    for (std::size_t i = 0; i < epochs.size(); ++i) {
      by_epoch.rows[i].insert(by_epoch.rows[i].begin(), epochs[i].label());
    }
  }
  return by_epoch;
}

namespace {

/// Returns whether labels are the study's own; of a table alone they are.
bool names_its_methods(const std::filesystem::path& folder) {
  const auto file = folder / "study.resolved.json";
  if (!std::filesystem::exists(file)) {
    return true;
  }
  const Json study = read_json(file);
  const Json& plan = value_at(study, "plan");
  return study.contains("labels") ||
         (plan.is_array() && std::any_of(plan.begin(), plan.end(), [](const Json& run) {
            return !text_at(run, "label").empty();
          }));
}

}  // namespace

TextTable epoch_table_of(const std::filesystem::path& folder, std::optional<std::int64_t> parts) {
  if (was_kept(folder)) {
    return kept_table(folder, parts);
  }
  require_tables_of_one_data(folder);
  const TextTable table = read_text_table(folder / "runs.csv");
  if (parts) {
    (void)table.column("iterations");
  }
  const auto runs = listed_runs(table);
  require_distinct(runs, table.file);
  const bool with_labels =
      names_its_methods(folder) && std::any_of(runs.begin(), runs.end(), [](const ListedRun& run) {
        return !run.label.empty();
      });
  return epoch_table({.iterations = folder / "iterations.csv",
                      .runs = runs,
                      .leave_out_others = false,
                      .parts = parts,
                      .with_labels = with_labels});
}

}  // namespace residuum::reports
