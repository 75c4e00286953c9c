#pragma once
// What a run leaves behind per measured iteration: a row of quantities and the checks made.

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

/// The quantities of one iteration. What was not measured stays empty: never zero.
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

/// What one iteration has to say of a worker or a layer.
class DetailRow {
 public:
  /// `part` is what the key column says: "3", "conv1.weight".
  DetailRow(const TableInfo& table, std::uint64_t iteration, std::string part)
      : table_(&table),
        iteration_(iteration),
        part_(std::move(part)),
        values_(table.columns.size()) {}

  const TableInfo& table() const { return *table_; }
  std::uint64_t iteration() const { return iteration_; }
  const std::string& part() const { return part_; }
  /// The column is one of the row's table.
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

/// One inequality lhs <= rhs that was looked at. `worker` is empty for global ones. A hard one is
/// an invariant of the method; one that is not expected to hold belongs to a method that is known
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

/// Where measurements go. Only the root process has one.
class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  Recorder(Recorder&&) = delete;
  Recorder& operator=(Recorder&&) = delete;
  virtual ~Recorder() = default;

  virtual void write(const Row& row, const std::vector<Check>& checks) = 0;
  /// Called only in runs that were asked for tables of details.
  virtual void write_detail(const DetailRow& /*row*/) {}
};

/// Keeps nothing.
class NoRecorder final : public Recorder {
 public:
  void write(const Row& /*row*/, const std::vector<Check>& /*checks*/) override {}
};

}  // namespace residuum
