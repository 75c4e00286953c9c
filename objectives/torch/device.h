#pragma once
// libtorch computes on the CPU, or on a CUDA device if it was built for one.

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "core/config/section.h"

namespace residuum {

/// The device on which a network computes: the CPU or one GPU.
struct NetworkDevice {
  std::optional<int> cuda;  // among the devices that CUDA shows to this process; none: the CPU

  bool operator==(const NetworkDevice&) const = default;
};

/// Returns how many devices CUDA shows to this process (CUDA_VISIBLE_DEVICES counts); 0 where
/// libtorch was built without CUDA.
int cuda_devices();

/// Returns the device that process `local_rank` of a machine takes of `devices`, which must be
/// positive: they are dealt out in turn.
constexpr int dealt_device(int local_rank, int devices) { return local_rank % devices; }

/// Reads the key `device`: "auto" (a CUDA device if there is one, the default), "cpu", "cuda" (the
/// process's own by `dealt_device`) or "cuda:N". A device that is not there is a resource error.
NetworkDevice device_from(const Section& section, int local_rank, int devices);

/// Returns a call that runs |x|.topk(k) on the device and waits for it, as a baseline for
/// benchmarks; x is there already.
std::function<void()> torch_device_top_k(std::span<const float> x, std::size_t k);

}  // namespace residuum
