#include "core/training/overlap.h"

#include <algorithm>
#include <cassert>

#include "core/error.h"

namespace residuum {
namespace {

/// Returns true if C(a) = a for every accumulator.
bool sends_everything(const Sparsifier& sparsifier, std::size_t dimension) {
  return sparsifier.law(dimension, 1).contraction == 1.0;
}

bool knows_k_of_layers(const Sparsifier& sparsifier) {
  const std::size_t segments = sparsifier.segments().size();
  for (std::size_t segment = 0; segment < segments; ++segment) {
    if (!sparsifier.segment_k(segment)) {
      return false;
    }
  }
  return segments > 0;
}

void check_layers(const Overlap& overlap, const Objective& objective) {
  const std::size_t layers = objective.layers().size();
  require(layers > 1,
          "{}: this objective has one layer, whose gradient is ready at the end, so that there is "
          "nothing to hide messages behind; use a network (residuum list objectives), or leave it "
          "out",
          overlap.place);
  require(overlap.ready.empty() || overlap.ready.size() == layers,
          "{} has {} numbers for {} layers; give one for each (residuum plan STUDY.toml --layers "
          "lists them)",
          overlap.place_of_ready,
          overlap.ready.size(),
          layers);
}

void check_sparsifier(const Overlap& overlap, const Sparsifier& sparsifier, std::size_t dimension) {
  if (sends_everything(sparsifier, dimension)) {
    return;
  }
  require(!sparsifier.segments().empty(),
          "{}: this sparsifier chooses among the entries of all layers, so that nothing can be "
          "sent before the whole gradient is ready; set sparsifier.scope = \"layer\"",
          overlap.place);
  require(knows_k_of_layers(sparsifier),
          "{}: virtual time needs the number of entries of each layer, which the data decide; use "
          "one with a k, as \"top-k\"",
          overlap.place);
}

void check_method(const Overlap& overlap, const Method& method, std::size_t dimension) {
  require(method.aggregator->law().applies_whole_messages,
          "{}: this aggregator needs the messages of all layers together, so that layers cannot be "
          "exchanged one by one; use aggregator \"allgather\", \"dense\" or "
          "\"sparse-reduce-scatter\"",
          overlap.place);
  check_sparsifier(overlap, *method.sparsifier, dimension);
  for (const DensityStage& stage : method.stages) {
    check_sparsifier(overlap, *stage.sparsifier, dimension);
  }
  require(method.quantiser == nullptr,
          "{}: a quantiser writes the values of all layers together, so that nothing can be sent "
          "before the whole gradient is ready; set quantiser.kind = \"none\"",
          overlap.place);
  require(method.clip != Clip::worker,
          "{}: the norm that clips a worker's gradient is known when all layers are ready; set "
          "step.clip_at = \"update\"",
          overlap.place);
}

}  // namespace

void check_overlap(const Overlap& overlap,
                   const Method& method,
                   const Objective& objective,
                   const ProtocolLaw& protocol) {
  if (overlap.rule == OverlapRule::none) {
    return;
  }
  require(protocol.synchrony == Synchrony::lockstep,
          "{}: messages hide behind back-propagation where workers exchange every gradient when "
          "they have it; set protocol.kind = \"bsp\" without a lag, or leave it out",
          overlap.place);
  check_layers(overlap, objective);
  check_method(overlap, method, objective.dimension());
}

std::vector<std::size_t> numbers_by_layer(const Method& method,
                                          const Objective& objective,
                                          std::uint64_t iteration) {
  const Sparsifier& sparsifier = method.sparsifier_at(iteration);
  const bool counts_all = method.aggregator->law().carries_vectors ||
                          sends_everything(sparsifier, objective.dimension());
  const auto layers = objective.layers();
  assert(counts_all || sparsifier.segments().size() == layers.size());
  std::vector<std::size_t> numbers;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    numbers.push_back(counts_all ? layers[l].size : sparsifier.segment_k(l).value_or(0));
  }
  return numbers;
}

}  // namespace residuum
