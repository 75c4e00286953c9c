#pragma once
// LateTotals sum up what a run's iterations.csv says of late gradients and of its clock, which is
// virtual or, for real workers, the wall clock.
// Columns that count since the version before are added up only where every iteration has a row;
// what cannot be known is absent. staleness.csv counts the gradients by how late they were.

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/record/columns.h"

namespace residuum::reports {

class IterationRecord;

/// How many gradients of a run had which staleness, in versions, until the last row.
using StalenessCounts = std::map<std::uint64_t, double>;

/// Reads the last iteration's rows of a run's staleness.csv. A file of another run, or with a
/// staleness above kLastStalenessRow, is a usage error.
StalenessCounts read_staleness(const std::filesystem::path& file, std::string_view run_id);

struct Staleness {
  double mean = 0;            // versions, over the gradients
  std::uint64_t largest = 0;  // that a gradient had
};

/// Absent where there is no gradient.
std::optional<Staleness> staleness_of(const StalenessCounts& counts);

class LateTotals {
 public:
  void add(const IterationRecord& record);

  /// Returns the numbers of a run by their names; all are absent where its rows do not count
  /// gradients.
  ///   versions, gradients, gradients_per_version;
  ///   staleness_mean, staleness_max: of all gradients;
  ///   virtual_s, last_update_wall_s: time of the last version, by the clock that the run has;
  ///   idle_share: of that time of all workers, the part in which they wait for a model;
  ///   quota_wait, staleness_wait, pull_wait: seconds per second of that time;
  ///   uplink_bytes_per_gradient, downlink_..., control_...;
  ///   weight_skew: at the end.
  std::vector<std::pair<std::string_view, std::optional<double>>> numbers(
      const std::optional<double>& workers) const;

 private:
  static constexpr std::array kSummed{Column::downlink_bytes,
                                      Column::control_bytes,
                                      Column::quota_wait_s,
                                      Column::staleness_wait_s,
                                      Column::pull_wait_s,
                                      Column::idle_s};

  void add_staleness(const IterationRecord& record);
  std::optional<double> sum_of(Column column) const;

  std::uint64_t rows_ = 0;
  bool has_every_row_ = true;
  // These are of the last row.
  std::optional<double> versions_;
  std::optional<double> gradients_;
  std::optional<double> virtual_s_;
  std::optional<double> wall_s_;
  std::optional<double> uplink_bytes_;
  std::optional<double> weight_skew_;
  // These are absent as soon as a row has no value.
  std::array<std::optional<double>, kSummed.size()> sums_{0, 0, 0, 0, 0, 0};
  std::optional<double> staleness_sum_ = 0;
  std::optional<double> staleness_max_ = 0;
};

}  // namespace residuum::reports
