#include "experiments/program/study/quantiser_section.h"

namespace residuum {

void read_quantiser(const Section& section,
                    const Section& aggregator,
                    const ProtocolLaw& protocol,
                    std::span<const Segment> layers,
                    Method& method) {
  method.quantiser = make_quantiser(section);
  section.knows("scope");
  if (method.quantiser != nullptr &&
      section.choice("scope", {"model", "layer"}, "model") == "layer") {
    require(!layers.empty(),
            "{}: these vectors have no layers; use scope \"model\"",
            section.where("scope"));
    method.quantised_layers.assign(layers.begin(), layers.end());
  }
  // Messages of late gradients and of neighbours meet no aggregator on their way.
  const bool meets_aggregator =
      protocol.synchrony == Synchrony::lockstep || protocol.synchrony == Synchrony::periodic;
  if (method.quantiser != nullptr && meets_aggregator) {
    check_quantiser(method, aggregator.text("kind"), section.where("kind"));
  }
}

}  // namespace residuum
