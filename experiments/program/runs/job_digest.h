#pragma once
// The processes of a job do one piece of work, so they need the same program, options, runs and
// data. They compare digests of all four before anything begins: a node may hold an old copy of a
// file, and a launcher may start processes with different arguments.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/world.h"

namespace residuum {

/// The texts that all processes of a job must have in common, named and in a fixed order.
struct JobDigest {
  struct Part {
    std::string name;  // "option --set"
    std::string text;  // empty where the process has nothing of the kind
    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts;
};

/// The first part in which two digests differ. Of long texts these are the pieces around the first
/// difference.
struct DigestDifference {
  std::string name;
  std::string mine;
  std::string first;
};
std::optional<DigestDifference> difference(const JobDigest& mine, const JobDigest& first);

/// Compares the digests of all processes. If one differs from the root's, every process throws a
/// SharedError (usage) that names the lowest rank that differs, its host and the first part that
/// differs. Collective; equal digests cost one exchange of 8 bytes from each process.
void agree(World& world, const JobDigest& digest);

/// Runs `action` on every process. If it throws an Error (or runs out of memory) on any of them,
/// every process throws the error of the lowest rank that failed, as a SharedError. The message
/// names rank and host unless all processes failed for the same reason. Collective.
void each_together(World& world, const std::function<void()>& action);

}  // namespace residuum
