// This file implements device.h, device_step.h and cuda_device.h in a build without CUDA: there is
// never a device.

#include "core/error.h"
#include "core/vectors/cuda/cuda_device.h"
#include "core/vectors/cuda/device_step.h"

namespace residuum::cuda {
namespace {

[[noreturn]] void refuse() {
  resource_error("this build has no CUDA: build again where nvcc is in the PATH");
}

}  // namespace

// The methods could be static here, but not in a build with CUDA, where the class has a state.
// NOLINTBEGIN(readability-convert-member-functions-to-static)

bool available() { return false; }

int device_count() { return 0; }
std::unique_ptr<Device> make_device(int /*index*/) { refuse(); }

std::string description() { return "none"; }
std::string name(int /*index*/) { return ""; }

DeviceMemory::DeviceMemory(std::size_t size) : size_(size) { refuse(); }
DeviceMemory::~DeviceMemory() = default;
void DeviceMemory::set(std::span<const float> /*values*/) { refuse(); }
void DeviceMemory::get(std::span<float> /*values*/) const { refuse(); }

void copy(DeviceSpan /*from*/, DeviceMemory& /*to*/) { refuse(); }

class DeviceStep::Implementation {};

DeviceStep::DeviceStep(std::size_t /*d*/) { refuse(); }
DeviceStep::~DeviceStep() = default;
std::size_t DeviceStep::dimension() const { refuse(); }
void DeviceStep::set_memory(std::span<const float> /*values*/) { refuse(); }
void DeviceStep::get_memory(std::span<float> /*values*/) const { refuse(); }
PassNorms DeviceStep::step(std::span<const float> /*gradient*/,
                           float /*scale*/,
                           std::size_t /*k*/,
                           SparseVector<float>& /*selected*/) {
  refuse();
}
PassNorms DeviceStep::step(DeviceSpan /*gradient*/,
                           float /*scale*/,
                           std::size_t /*k*/,
                           SparseVector<float>& /*selected*/) {
  refuse();
}
void DeviceStep::start(DeviceSpan /*gradient*/, float /*scale*/, std::size_t /*k*/) { refuse(); }
PassNorms DeviceStep::take(SparseVector<float>& /*selected*/) { refuse(); }
void DeviceStep::update_residual(const SparseVector<float>& /*removed*/,
                                 const SparseVector<float>& /*returned*/) {
  refuse();
}
void DeviceStep::select(std::size_t /*k*/, SparseVector<float>& /*selected*/) { refuse(); }
float* DeviceStep::memory() const { refuse(); }
Stream& DeviceStep::stream() const { refuse(); }
void DeviceStep::update_selected_residual() { refuse(); }
std::size_t DeviceStep::cold_selections() const { refuse(); }

// NOLINTEND(readability-convert-member-functions-to-static)

}  // namespace residuum::cuda
