#pragma once
// `residuum bench network` fits alpha and beta of the links between the processes of a job, for
// [network] of a study.

#include "core/cluster/world.h"
#include "experiments/program/console/options.h"

namespace residuum {

/// Measures the link from the root to every other process and prints the fits, on the root. One
/// process alone is a usage error. The call is collective.
void bench_network(const Options& options, World& world);

}  // namespace residuum
