#pragma once
// Helpers of the tests of gossip: its protocol by a few keys, and a recipe that it can train.

#include <memory>
#include <string>

#include "core/protocols/protocol.h"
#include "tests/core/tiny_training.h"

namespace residuum::test {

inline std::unique_ptr<Protocol> gossip_of(Json keys) {
  keys["kind"] = "gossip";
  const Section section("protocol", keys);
  auto protocol = make_protocol(section);
  section.finish();
  return protocol;
}

inline std::unique_ptr<Protocol> plain_on(const std::string& graph) {
  return gossip_of({{"graph", graph}});
}

inline std::unique_ptr<Protocol> choco_on(const std::string& graph, double step) {
  return gossip_of({{"graph", graph}, {"mixing", "choco"}, {"consensus_step", step}});
}

inline Recipe gossip_recipe(const Protocol& protocol, int workers, std::uint64_t iterations) {
  Recipe recipe;
  recipe.protocol = &protocol;
  recipe.workers = workers;
  recipe.iterations = iterations;
  recipe.feedback = {{"kind", "none"}};
  recipe.step = {{"value", 0.25}};
  recipe.evaluated = Json(1);
  return recipe;
}

}  // namespace residuum::test
