#pragma once
// A link fit finds the alpha and beta of a link from the times of messages: t = alpha + beta n.

#include <span>
#include <vector>

#include "core/cluster/link_model.h"
#include "core/cluster/world.h"

namespace residuum {

/// Returns the alpha and beta with the least sum of squared relative errors
/// ((alpha + beta n - t) / t)^2, so that short messages count as much as long ones. There are at
/// least two sizes, and times are positive.
LinkModel fit_link(std::span<const double> bytes, std::span<const double> seconds);

/// Sends messages of several sizes to and fro between the root and the process `peer`, `sweeps`
/// times, and returns the fit of each sweep on the root. The call is collective; a time is half of
/// a round trip.
std::vector<LinkModel> measure_link(World& world, int peer, int sweeps);

}  // namespace residuum
