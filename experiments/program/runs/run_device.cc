#include "experiments/program/runs/run_device.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>

#include "core/cluster/mpi_world.h"
#include "core/training/device_placement.h"
#include "core/vectors/cuda/cuda_device.h"
#include "core/vectors/stand_in_device.h"

namespace residuum {
namespace {

/// Returns the CUDA device that the run wants, which process `local_rank` of its machine takes in
/// turn unless the study or the gradients say which.
int cuda_index(const PreparedRun& run, int local_rank) {
  const int devices = cuda::device_count();
  if (devices == 0) {
    resource_error(
        "workers.device is \"cuda\", but this program sees no CUDA device; use \"auto\" or "
        "\"cpu\"");
  }
  const Place gradients = place_of_gradients(*run.objective);
  const int index = gradients.kind == Place::Kind::cuda
                        ? gradients.index
                        : run.device.index.value_or(local_rank % devices);
  if (index >= devices) {
    resource_error("workers.device is \"cuda:{}\", but CUDA shows {} to this process, from cuda:0",
                   index,
                   devices == 1 ? "one device" : fmt::format("{} devices", devices));
  }
  return index;
}

/// A Need is what a process tells the others of its device.
struct Need {
  std::uint64_t bytes = 0;  // that its workers take
  std::uint64_t free = 0;   // on the device
  std::array<char, 64> identity{};
};

}  // namespace

std::unique_ptr<Device> make_device_at(const Place& place) {
  if (place.kind == Place::Kind::stand_in) {
    return std::make_unique<StandInDevice>();
  }
  return cuda::make_device(place.index);
}

std::unique_ptr<Device> make_run_device(const PreparedRun& run, int local_rank) {
  if (run.device.kind == WantedDevice::Kind::stand_in ||
      place_of_gradients(*run.objective).kind == Place::Kind::stand_in) {
    return std::make_unique<StandInDevice>();
  }
  return cuda::make_device(cuda_index(run, local_rank));
}

void check_room(World& group, const Device& device, const PreparedRun& run) {
  Need mine{
      .bytes = bytes_on_device(run.training, law_of(run), device, run.training.cluster->count()),
      .free = device.free_bytes()};
  const std::string identity = device.identity();
  std::memcpy(
      mine.identity.data(), identity.data(), std::min(identity.size(), mine.identity.size()));
  Gathered all;
  group.all_gather(std::as_bytes(std::span(&mine, 1)), all);
  std::uint64_t wanted = 0;
  std::uint64_t least_free = mine.free;
  int processes = 0;
  for (std::size_t rank = 0; rank < all.parts(); ++rank) {
    Need need;
    std::memcpy(&need, all.part(rank).data(), sizeof(need));
    if (need.identity == mine.identity) {
      wanted += need.bytes;
      least_free = std::min(least_free, need.free);
      ++processes;
    }
  }
  together(group, [&] {
    if (wanted > least_free) {
      resource_error(
          "device {}: the memories of the workers of {} take {} bytes, and {} are free: use fewer "
          "workers, more devices, or workers.device = \"cpu\"",
          device.name(),
          processes == 1 ? "one process" : fmt::format("{} processes", processes),
          wanted,
          least_free);
    }
  });
}

nlohmann::json device_record(World& group, const Device& device) {
  const Crossed& crossed = device.crossed();
  std::array<double, 2> bytes{static_cast<double>(crossed.to_host),
                              static_cast<double>(crossed.to_device)};
  group.add_up(std::span(bytes));  // of whole numbers: any order has the same bits
  return {{"name", device.name()},
          {"to_host_bytes", static_cast<std::uint64_t>(bytes[0])},
          {"to_device_bytes", static_cast<std::uint64_t>(bytes[1])},
          {"messages", "of the host"},
          {"mpi_takes_device_memory",
           mpi_communicator(group).has_value() && mpi_takes_device_memory()}};
}

}  // namespace residuum
