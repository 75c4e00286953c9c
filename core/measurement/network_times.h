#pragma once
// Network times say how long a run would have taken up to a version on a cluster with some network.
// They add up: each part is the time by which the run is longer with it than without, in the order
// of the fields.

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace residuum {

struct NetworkTimes {
  std::string network;
  double compute_s = 0;  // gradients, and waits for the slowest
  double select_s = 0;   // accumulation and selection, where they are measured
  double merge_s = 0;    // what workers do with messages that arrived, where it is measured
  double wire_s = 0;     // messages

  double version_s = 0;       // of the last version alone
  std::size_t exchanges = 1;  // of the last version: several where layers are exchanged one by one

  double total_s() const { return compute_s + select_s + merge_s + wire_s; }
};

/// LocalSeconds are what the workers of one process took for one version on this machine, one after
/// the other; empty where they are not wanted.
struct LocalSeconds {
  std::vector<double> compute;  // of each gradient
  std::vector<double> select;   // of each accumulation and selection
};

/// Calls act() for the worker in `slot` and takes its seconds, if there is room for them.
template <class Act>
void take_seconds(std::vector<double>& seconds, std::size_t slot, const Act& act) {
  if (seconds.empty()) {
    act();
    return;
  }
  const auto begin = std::chrono::steady_clock::now();
  act();
  seconds[slot] = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// NetworkView has the virtual time of a run in lockstep. It is empty where no clock runs.
struct NetworkView {
  std::span<const NetworkTimes> times;  // up to and with this version, by network
  bool is_measured = false;             // some of the seconds were measured on this machine
  /// With overlap: the parts of a gradient's time after which those of the layers are ready, in the
  /// order of the model.
  std::span<const double> ready = {};
};

}  // namespace residuum
