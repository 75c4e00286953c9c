// In the place of objectives/registry.cc where libtorch is not compiled: the objectives without it.

#include <string>
#include <vector>

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

}  // namespace residuum
