#pragma once
// The tables of a folder of results, or of a kept study (`residuum keep`), row by row, with the
// varied keys of the row's run. Cells of pages are computed from them.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/results/run_list.h"

namespace residuum::reports {

class CsvReader;

struct KeptRow {
  RunKeys keys;
  std::string run;  // names the run; the method and the seed where the table has no run ids
  std::uint64_t seed = 0;
  std::vector<std::string> fields;
};

/// A KeptTable is one CSV file, of which every line must end. Rows of runs that have not finished
/// are left out: such a run has no end.
struct KeptTable {
  std::string file;  // for messages
  std::vector<std::string> header;
  std::vector<KeptRow> rows;

  std::optional<std::size_t> find(std::string_view name) const;
  /// A usage error where there is no such column.
  std::size_t column(std::string_view name) const;
  /// The number in a field, which may be infinite or not a number; nothing for an empty one. A text
  /// is a usage error.
  std::optional<double> number(const KeptRow& row, std::size_t at) const;
  /// The text that a row has for a key: that of its column of this name, else that of the varied
  /// key, else nothing.
  std::string text(const KeptRow& row, const std::string& key) const;
  /// True if the row has these texts; "*" stands for any.
  bool has(const KeptRow& row, const RunKeys& where) const;
};

/// A Budget is of bytes (`sent_bytes`), of the workers' bytes (`uplink_bytes`), or of virtual
/// seconds on a network of networks.csv.
struct Budget {
  std::string cost;  // "bytes", "uplink", or the network's name
  double amount = 0;
};

/// KeptFolder reads each table of a folder once.
class KeptFolder {
 public:
  explicit KeptFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  /// Keeps these columns alone, for a folder whose tables are large.
  KeptFolder(std::filesystem::path folder, std::set<std::string> columns)
      : folder_(std::move(folder)), columns_(std::move(columns)) {}

  /// The varied keys of the finished runs, each set once, in the order of runs.csv.
  std::vector<RunKeys> methods();
  /// Returns what the study calls the method of such runs, else its varied keys.
  std::string name_of(const RunKeys& method) const;
  /// True if the folder has the table, and that the column. It reads no rows.
  bool has_column(const std::string& table, const std::string& column) const;
  /// How many runs have diverged, and how many have not ended.
  struct LeftOut {
    std::size_t diverged = 0;
    std::size_t unended = 0;
  };
  LeftOut left_out();

  /// Returns a table by the name of its file, such as "runs.csv".
  const KeptTable& table(const std::string& name);

  /// Returns what a column of iterations.csv was when a run had spent the budget: on a line between
  /// the last model with a measured f before that and the next one. A run that ended within the
  /// budget has its last value. Nothing where the run was not measured twice by then.
  std::optional<double> at_budget(const KeptRow& run,
                                  const std::string& column,
                                  const Budget& budget);
  /// Returns the most that one of the finished runs of a method has spent.
  double most_spent(const RunKeys& method, const std::string& cost);

 private:
  struct Owner {
    RunKeys keys;
    std::uint64_t seed = 0;
    bool has_finished = false;
    bool has_diverged = false;
  };

  const std::map<std::string, Owner>& owners();
  KeptTable read(const std::string& name);
  /// The keys and the seed of the run that a row is of; nothing if it has not finished. `position`
  /// is the seed of a row that has none.
  std::optional<KeptRow> row_without_fields(const CsvReader& reader, std::size_t position);

  std::filesystem::path folder_;
  std::set<std::string> columns_;        // that are kept; empty: all
  std::map<std::string, Owner> owners_;  // by run id
  std::map<std::string, KeptTable> tables_;
};

}  // namespace residuum::reports
