#pragma once
// `residuum bench network` fits alpha and beta of the links between the processes of a job, for
// [network] of a study.

#include <span>
#include <vector>

#include "core/cluster/link_model.h"
#include "core/cluster/world.h"
#include "experiments/program/console/options.h"

namespace residuum {

/// A link fit finds the alpha and beta of a link from the times of messages: t = alpha + beta n.
struct LinkFit {
  LinkModel link;
  double largest_factor = 1;  // by which a time is off, up or down
  double at_bytes = 0;        // where it is
};

/// Returns, of the lines through two of the points, the one with the least sum of
/// |log((alpha + beta n) / t)|: short messages count as much as long ones, and a few sizes off the
/// line, such as those that a switch lets pass in a burst, do not move it. There are at least two
/// sizes, all different, and times are positive and grow with the size from the first to the last.
LinkFit fit_link(std::span<const double> bytes, std::span<const double> seconds);

/// Sends messages of several sizes to and fro between the root and the process `peer`, `sweeps`
/// times, and returns the fit of each sweep on the root. The call is collective; a time is half of
/// a round trip.
std::vector<LinkFit> measure_link(World& world, int peer, int sweeps);

/// Measures the link from the root to every other process and prints the fits, on the root. One
/// process alone is a usage error. The call is collective.
void bench_network(const Options& options, World& world);

}  // namespace residuum
