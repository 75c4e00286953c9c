#pragma once
// Where libtorch computes: on the CPU, or on a CUDA device if it was built for one.

#include <cstddef>
#include <functional>
#include <span>

#include "core/config/section.h"

namespace residuum {

enum class Device { cpu, cuda };

/// Whether this libtorch was built with CUDA and finds a device.
bool torch_has_cuda();

/// The key `device`: "auto" (a CUDA device where there is one, the default), "cpu" or "cuda", which
/// is a resource error where there is none.
Device device_from(const Section& section);

/// |x|.topk(k) on the device, waited for, as a baseline for benchmarks; x is there already.
std::function<void()> torch_device_top_k(std::span<const float> x, std::size_t k);

}  // namespace residuum
