// Every objective by name: those of convex.cc, then the networks.

#include "objectives/registry.h"

#include <string>
#include <vector>

namespace residuum {

std::unique_ptr<Objective> make_lenet(const Section& section, const ObjectiveContext& context);
std::unique_ptr<Objective> make_mlp(const Section& section, const ObjectiveContext& context);

namespace {

std::vector<ObjectiveEntry> all_objectives() {
  const auto convex = convex_objectives();
  std::vector<ObjectiveEntry> all(convex.begin(), convex.end());
  all.push_back({.name = "mlp",
                 .summary = "a network of fully connected layers, cross-entropy",
                 .source = "Rumelhart, Hinton, Williams 1986",
                 .example = R"({"data": "synthetic-images", "rows": 600, "hidden": 32})",
                 .make = make_mlp});
  all.push_back({.name = "lenet",
                 .summary = "LeNet-5: two convolutions, three fully connected layers",
                 .source = "LeCun, Bottou, Bengio, Haffner 1998",
                 .example = R"({"data": "synthetic-images", "rows": 600})",
                 .make = make_lenet});
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
      return entry.make(section, context);
    }
  }
  return nullptr;  // not reached: `choice` has thrown
}

}  // namespace residuum
