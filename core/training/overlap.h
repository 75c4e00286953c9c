#pragma once
// Overlap lets the messages of an iteration travel, in virtual time, while its gradients are
// computed. Back-propagation has the gradient of the last layer first, so that a layer can be
// exchanged while those before it are still computed. The trained model does not change.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/messages/laws.h"
#include "core/objective.h"
#include "core/training/method.h"

namespace residuum {

enum class OverlapRule : std::uint8_t {
  none,       // one exchange, when the whole gradient is ready
  wait_free,  // one for each layer, when its gradient is (wait-free back-propagation)
  merged      // the same, but layers wait for others where that saves time (MG-WFBP)
};

struct Overlap {
  OverlapRule rule = OverlapRule::none;
  /// Fractions of a gradient's time after which the gradient of each layer is ready, in the order
  /// of the layers; empty: they are measured.
  std::vector<double> ready = {};
  std::string place = {};           // for messages: where the rule is written
  std::string place_of_ready = {};  // and the fractions
};

/// Reports a usage error if exchanges of such a run cannot be divided by layers.
void check_overlap(const Overlap& overlap,
                   const Method& method,
                   const Objective& objective,
                   const ProtocolLaw& protocol);

/// Returns how many of the numbers that are exchanged at this iteration belong to each layer, for a
/// method that the check lets pass.
std::vector<std::size_t> numbers_by_layer(const Method& method,
                                          const Objective& objective,
                                          std::uint64_t iteration);

}  // namespace residuum
