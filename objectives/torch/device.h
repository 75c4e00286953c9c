#pragma once
// libtorch computes on the CPU, or on a CUDA device if it was built for one.

#include <cstddef>
#include <functional>
#include <span>

#include "core/config/section.h"

namespace residuum {

enum class Device { cpu, cuda };

/// True if this libtorch was built with CUDA and finds a device.
bool torch_has_cuda();

/// Reads the key `device`: "auto" (a CUDA device if there is one, the default), "cpu" or "cuda";
/// "cuda" without a device is a resource error.
Device device_from(const Section& section);

/// Returns a call that runs |x|.topk(k) on the device and waits for it, as a baseline for
/// benchmarks; x is there already.
std::function<void()> torch_device_top_k(std::span<const float> x, std::size_t k);

}  // namespace residuum
