#include "core/vectors/cuda/device_error.h"

#include "core/error.h"

namespace residuum::cuda {

void device_error(const char* call, const char* reason) {
  resource_error("CUDA device: {}: {}", call, reason);
}

void no_room(std::size_t wanted, std::size_t free, std::size_t total) {
  resource_error(
      "CUDA device: no room for {} bytes, {} of {} are free: use a smaller model or density, or a "
      "larger device",
      wanted,
      free,
      total);
}

}  // namespace residuum::cuda
