#pragma once
// These numbers say how long each method would have taken on each network that its runs followed:
// until f reached a target, and in all. They are read from the runs' networks.csv.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/columns.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/statistics.h"

namespace residuum::reports {

/// The parts of a run's time, in the order of networks.csv.
inline constexpr std::array<std::string_view, 4> kTimeParts{
    "compute_s", "select_s", "merge_s", "wire_s"};

/// The times of one method on one network. A run that diverged before the target has spent
/// infinitely much until there; it is none of the whole runs.
struct NetworkTime {
  std::size_t group = 0;
  std::string network;
  Spread to_target;                             // seconds until f was at the target
  Spread total;                                 // seconds of the whole run
  std::array<Spread, kTimeParts.size()> parts;  // of the total
  std::vector<std::int64_t> seeds = {};         // of to_target
  std::size_t missing = 0;  // seeds that have diverged, or no time that is known
  bool is_fastest = false;  // to the target, and its lead over every other method is decided
};

/// One objective: every finished run of its methods has reached the target.
struct NetworkComparison {
  std::string objective;
  std::string_view quantity;  // loss_gap where every run knows it, else loss
  double target = 0;          // the best that the worst run has reached
  std::vector<std::string> networks;
  std::vector<NetworkTime> times;  // of each group with runs on networks, on each of these
};

/// Compares the methods whose runs followed networks; empty where none did. A run is at the target
/// at the first iteration at which it was evaluated there.
std::vector<NetworkComparison> compare_on_networks(const ResultFolder& folder,
                                                   const std::vector<Group>& groups);

}  // namespace residuum::reports
