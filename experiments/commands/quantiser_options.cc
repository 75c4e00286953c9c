#include "experiments/commands/quantiser_options.h"

namespace residuum {

Section quantiser_section(const Options& options) {
  nlohmann::json values{{"kind", options.quantiser}};
  if (options.bits) {
    values["bits"] = *options.bits;
  }
  return {"quantiser", values};
}

}  // namespace residuum
