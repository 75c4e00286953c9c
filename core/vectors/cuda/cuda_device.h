#pragma once
// The CUDA device as the trainer uses it (core/vectors/device.h). Its vector 0 is a DeviceStep's;
// norms are float64 sums in an order that depends on the dimension alone.

#include <memory>

#include "core/vectors/device.h"

namespace residuum::cuda {

/// Returns how many devices CUDA shows to this process; 0 in a build without CUDA.
int device_count();

/// Returns the device of this index, which this process uses from now on. A device that is not
/// there is a resource error.
std::unique_ptr<Device> make_device(int index);

}  // namespace residuum::cuda
