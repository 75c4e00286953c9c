#include "core/vectors/cuda/device_error.h"

#include "core/error.h"

namespace residuum::cuda {

void device_error(const char* call, const char* reason) {
  resource_error("CUDA device: {}: {}", call, reason);
}

}  // namespace residuum::cuda
