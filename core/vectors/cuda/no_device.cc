// accumulate.h in a build without CUDA: there is never a device.

#include "core/error.h"
#include "core/vectors/cuda/accumulate.h"

namespace residuum::cuda {

bool available() { return false; }

double accumulate(std::span<float> /*buffer*/, std::span<const float> /*addend*/, float /*scale*/) {
  resource_error("this build has no CUDA: build again where nvcc is in the PATH");
}

}  // namespace residuum::cuda
