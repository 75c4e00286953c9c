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

}  // namespace residuum
