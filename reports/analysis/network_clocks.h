#pragma once
// A run in lockstep may follow several networks: networks.csv has a virtual clock for each.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/tables/result_folder.h"

namespace residuum::reports {

/// A NetworkClock has the virtual seconds at which iterations ended on one network, median over the
/// runs.
struct NetworkClock {
  std::string network;
  std::map<std::uint64_t, double> ends;  // by iteration
};

/// Reads the clocks at these iterations, of the group's runs that ended or diverged, in the order
/// of their tables; none where a run has no such table.
std::vector<NetworkClock> read_network_clocks(const ResultFolder& folder,
                                              const Group& group,
                                              const std::set<std::uint64_t>& iterations);

}  // namespace residuum::reports
