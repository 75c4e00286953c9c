#include "experiments/commands/sparsifier_options.h"

namespace residuum {

Section sparsifier_section(const Options& options) {
  nlohmann::json values{{"kind", options.sparsifier}};
  if (options.k) {
    values["k"] = *options.k;
  }
  if (options.density) {
    values["density"] = *options.density;
  }
  if (options.block) {
    values["block"] = *options.block;
  }
  return {"sparsifier", values};
}

void check_has_k(const Options& options, const Sparsifier& sparsifier, std::size_t dimension) {
  require(sparsifier.k(dimension).has_value(),
          "--sparsifier {} keeps as many entries as the data decide; use one that keeps k, such as "
          "\"top-k\" or \"chunk-top-k\"",
          options.sparsifier);
}

}  // namespace residuum
