#include "experiments/study/quantiser_section.h"

namespace residuum {

void read_quantiser(const Section& section,
                    const Section& aggregator,
                    const ProtocolLaw& protocol,
                    Method& method) {
  method.quantiser = make_quantiser(section);
  // Messages of late gradients and of neighbours meet no aggregator on their way.
  const bool meets_aggregator =
      protocol.synchrony == Synchrony::lockstep || protocol.synchrony == Synchrony::periodic;
  if (method.quantiser != nullptr && meets_aggregator) {
    check_quantiser(method, aggregator.text("kind"), section.where("kind"));
  }
}

}  // namespace residuum
