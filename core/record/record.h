#pragma once
// A run records, for each measured iteration, a row of quantities and the checks that were made.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record/columns.h"
#include "core/record/tables.h"

namespace residuum {

/// A row holds the quantities of one iteration. A quantity that was not measured is empty, never
/// zero.
class Row {
 public:
  explicit Row(std::uint64_t iteration = 0) : iteration_(iteration) {}

  std::uint64_t iteration() const { return iteration_; }
  void set(Column column, double value) { values_[static_cast<std::size_t>(column)] = value; }
  const std::optional<double>& get(Column column) const {
    return values_[static_cast<std::size_t>(column)];
  }

 private:
  std::uint64_t iteration_;
  std::array<std::optional<double>, kColumns.size()> values_{};
};

/// A detail row holds the quantities of one worker or one layer in one iteration.
class DetailRow {
 public:
  /// `part` is the value of the key column: "3", "conv1.weight".
  DetailRow(const TableInfo& table, std::uint64_t iteration, std::string part)
      : table_(&table),
        iteration_(iteration),
        part_(std::move(part)),
        values_(table.columns.size()) {}

  const TableInfo& table() const { return *table_; }
  std::uint64_t iteration() const { return iteration_; }
  const std::string& part() const { return part_; }
  /// Sets a column of the row's table.
  template <class TableColumn>
  void set(TableColumn column, double value) {
    values_.at(static_cast<std::size_t>(column)) = value;
  }
  template <class TableColumn>
  const std::optional<double>& get(TableColumn column) const {
    return values_.at(static_cast<std::size_t>(column));
  }
  const std::vector<std::optional<double>>& values() const { return values_; }

 private:
  const TableInfo* table_;
  std::uint64_t iteration_;
  std::string part_;
  std::vector<std::optional<double>> values_;
};

/// A check is one inequality lhs <= rhs that was evaluated. `worker` is empty for global ones. A
/// hard check is an invariant of the method; it is not expected to hold where the method is known
/// to violate it (a negative control).
struct Check {
  std::uint64_t iteration = 0;
  std::string_view name;
  std::optional<int> worker;
  double lhs = 0;
  double rhs = 0;
  bool holds = false;
  bool hard = true;
  bool expected = true;
};

/// A recorder takes the measurements. Only the root process has one.
class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  Recorder(Recorder&&) = delete;
  Recorder& operator=(Recorder&&) = delete;
  virtual ~Recorder() = default;

  virtual void write(const Row& row, const std::vector<Check>& checks) = 0;
  /// Takes a detail row; called only in runs that write detail tables.
  virtual void write_detail(const DetailRow& /*row*/) {}
};

/// Drops everything.
class NoRecorder final : public Recorder {
 public:
  void write(const Row& /*row*/, const std::vector<Check>& /*checks*/) override {}
};

}  // namespace residuum
