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

/// True if workers take one gradient for a version and change nothing of it, so that a device can
/// compute it where it stays.
bool takes_plain_gradients(const Training& training, const ProtocolLaw& law);

/// Returns in words why gradients that a device computes are copied to the host; empty if they
/// stay where they are.
std::string gradient_obstacle(const Training& training, const ProtocolLaw& law);

/// Returns in words why residuals on a device are copied to the host in every iteration; empty if
/// only probes read them, at measured iterations.
std::string residual_obstacle(const Training& training);

/// Returns the bytes that the workers of a process take on the device: their memories and
/// gradients, the model if gradients are taken there, and what selections take beside them where
/// the sparsifier says how many entries it selects.
std::uint64_t bytes_on_device(const Training& training,
                              const ProtocolLaw& law,
                              const Device& device,
                              int workers);

}  // namespace residuum
