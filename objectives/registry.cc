// The registry lists every objective by name: those of convex.cc, the networks of
// network_module.cc, then those that a program of somebody else has added.

#include "objectives/registry.h"

#include <algorithm>
#include <string>
#include <vector>

#include "objectives/dct_coordinates.h"
#include "objectives/network_module.h"
#include "objectives/noisy_function.h"

namespace residuum {

namespace {

std::vector<ObjectiveEntry>& added_objectives() {
  static std::vector<ObjectiveEntry> added;
  return added;
}

/// Added objectives come in the order of their names, so that the order of linking does not matter.
std::vector<ObjectiveEntry> all_objectives() {
  const auto convex = convex_objectives();
  const auto networks = network_objectives();
  std::vector<ObjectiveEntry> all(convex.begin(), convex.end());
  all.push_back(live_objective());
  all.insert(all.end(), networks.begin(), networks.end());
  auto added = added_objectives();
  std::sort(
      added.begin(), added.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  for (const auto& entry : added) {
    const bool is_new = std::none_of(
        all.begin(), all.end(), [&](const auto& known) { return known.name == entry.name; });
    require(is_new, "two objectives are registered as '{}'; rename one", entry.name);
    all.push_back(entry);
  }
  return all;
}

}  // namespace

RegisteredObjective::RegisteredObjective(const ObjectiveEntry& entry) {
  added_objectives().push_back(entry);
}

std::span<const ObjectiveEntry> objectives() {
  static const std::vector<ObjectiveEntry> all = all_objectives();
  return all;
}

void require_allowed(const ObjectiveEntry& entry,
                     const Section& section,
                     const ObjectiveContext& context) {
  require(context.allow_commands || entry.foreign_code.empty(),
          "{}: '{}' executes code of the file that the study names; give --allow-commands if you "
          "trust its author",
          section.where("kind"),
          entry.name);
}

std::unique_ptr<Objective> make_objective(const Section& section, const ObjectiveContext& context) {
  std::vector<std::string> names;
  for (const auto& entry : objectives()) {
    names.emplace_back(entry.name);
  }
  const std::string kind = section.choice("kind", names);
  for (const auto& entry : objectives()) {
    if (entry.name == kind) {
      require_allowed(entry, section, context);
      return in_coordinates(section, entry.make(section, context));
    }
  }
  return nullptr;  // not reached: `choice` has thrown
}

}  // namespace residuum
