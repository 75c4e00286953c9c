#pragma once
// A placement says which process hosts each actor of a run over real processes.

#include <vector>

#include "core/protocols/actors/actor.h"

namespace residuum {

/// A node and its workers share memory, so they have the same host.
struct Placement {
  std::vector<int> hosts;  // rank, by ActorId

  int host(ActorId actor) const { return hosts[actor]; }
};

/// Places the server on rank 0 and the nodes (or workers, where there are no nodes) on the other
/// ranks, in consecutive blocks whose lengths differ by at most one. A single process hosts all.
/// Reports a usage error if a process would have nothing to do.
Placement place_actors(const Roster& roster, int processes);

}  // namespace residuum
