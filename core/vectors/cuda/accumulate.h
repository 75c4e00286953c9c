#pragma once
// The fused accumulation of core/vectors/dense.h on a CUDA device, behind plain C++: the spans are
// host memory. Entry by entry it gives the host's bits; the sum has a fixed order of its own, the
// same on every device.

#include <span>

namespace residuum::cuda {

/// Whether this build has CUDA and this machine a device that can be used.
bool available();

/// buffer := buffer + scale * addend; returns the sum of squares of the result. The two spans have
/// one size. A resource error, with CUDA's own words, when the device cannot do it.
double accumulate(std::span<float> buffer, std::span<const float> addend, float scale);

}  // namespace residuum::cuda
