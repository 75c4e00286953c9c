#pragma once
// The device of a run, where the memories of its workers are.

#include <memory>
#include <nlohmann/json.hpp>

#include "core/cluster/world.h"
#include "core/vectors/device.h"
#include "experiments/program/study/run_config.h"

namespace residuum {

/// Returns the device of a place that is not the host. A resource error if there is none.
std::unique_ptr<Device> make_device_at(const Place& place);

/// Returns the device of this process that the run wants. A resource error if there is none.
std::unique_ptr<Device> make_run_device(const PreparedRun& run, int local_rank);

/// Reports a resource error, which names the sizes, where the workers of the processes on one
/// device need more memory together than it has. Collective.
void check_room(World& group, const Device& device, const PreparedRun& run);

/// Returns what of the run's memories was on devices: their name, that of the root, and the bytes
/// that crossed on all processes. Collective.
nlohmann::json device_record(World& group, const Device& device);

}  // namespace residuum
