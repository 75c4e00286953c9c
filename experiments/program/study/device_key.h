#pragma once
// The key `device` of [workers] says where the memories of workers are.

#include <optional>
#include <string>

#include "core/config/section.h"
#include "core/objective.h"
#include "core/training/training.h"

namespace residuum {

/// A WantedDevice says where a study wants the memories of workers.
struct WantedDevice {
  enum class Kind {
    automatic,  // where the gradients are
    host,
    cuda,
    stand_in,  // on the host, by the code of devices; copies are counted
  };
  Kind kind = Kind::host;                   // until a GPU has run all of the path
  std::optional<int> index = std::nullopt;  // of a CUDA device; absent: that of the process
};

/// Reads `device`: "cpu" (the default, which is not resolved), "auto", "cuda", "cuda:N" or
/// "stand-in".
WantedDevice read_wanted_device(const Section& workers);

/// Returns where the gradients of an objective are.
Place place_of_gradients(const Objective& objective);

/// Returns whether memories are wanted on a device, with the gradients of this objective. A usage
/// error where the gradients are on another device.
bool wants_device(const WantedDevice& wanted, const Objective& objective, const Section& workers);

}  // namespace residuum
