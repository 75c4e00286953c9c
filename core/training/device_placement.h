#pragma once
// Which trainings have forms for a device: those of their feedback and sparsifiers, by exchanges
// that read nothing but messages.

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/training/training.h"

namespace residuum {

/// Returns in words what keeps the memories of the training's workers on the host; empty if they
/// can be on a device. `law` is that of the run's protocol.
std::string device_obstacle(const Training& training, const ProtocolLaw& law);

/// Returns the bytes that the workers of a process take on a device: their memories and gradients,
/// with what selections take beside them.
std::uint64_t bytes_on_device(const Training& training, int workers);

}  // namespace residuum
