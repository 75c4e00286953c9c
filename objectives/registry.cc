// The registry lists every objective by name: those of convex.cc, then the networks of
// network_module.cc.

#include "objectives/registry.h"

#include <string>
#include <vector>

#include "objectives/dct_coordinates.h"
#include "objectives/network_module.h"

namespace residuum {

namespace {

std::vector<ObjectiveEntry> all_objectives() {
  const auto convex = convex_objectives();
  const auto networks = network_objectives();
  std::vector<ObjectiveEntry> all(convex.begin(), convex.end());
  all.insert(all.end(), networks.begin(), networks.end());
  return all;
}

}  // namespace

std::span<const ObjectiveEntry> objectives() {
  static const std::vector<ObjectiveEntry> all = all_objectives();
  return all;
}

std::unique_ptr<Objective> make_objective(const Section& section, const ObjectiveContext& context) {
  std::vector<std::string> names;
  for (const auto& entry : objectives()) {
    names.emplace_back(entry.name);
  }
  const std::string kind = section.choice("kind", names);
  for (const auto& entry : objectives()) {
    if (entry.name == kind) {
      return in_coordinates(section, entry.make(section, context));
    }
  }
  return nullptr;  // not reached: `choice` has thrown
}

}  // namespace residuum
