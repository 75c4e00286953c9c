// Replacements for builds without libtorch and MPI: a registry of the objectives without networks,
// and a build without a name.

#include <string>
#include <vector>

#include "experiments/program/runs/provenance.h"
#include "objectives/network_module.h"
#include "objectives/registry.h"

namespace residuum {

std::span<const ObjectiveEntry> objectives() { return convex_objectives(); }

std::unique_ptr<Objective> make_objective(const Section& section, const ObjectiveContext& context) {
  std::vector<std::string> names;
  for (const auto& entry : objectives()) {
    names.emplace_back(entry.name);
  }
  const std::string kind = section.choice("kind", names);
  for (const auto& entry : objectives()) {
    if (entry.name == kind) {
      return entry.make(section, context);
    }
  }
  return nullptr;  // not reached: `choice` has thrown
}

/// A network would be refused for want of libtorch; here `choice` has not let its name pass.
void require_built_network(std::string_view /*kind*/) {}

std::string program_version() { return "a fuzzer"; }

}  // namespace residuum
