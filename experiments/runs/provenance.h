#pragma once
// Provenance says what made a result: versions, machine, command, and of the environment only an
// allow-list.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/cluster/world.h"

namespace residuum {

/// Returns command line, build, libraries, machine and the allow-listed environment.
nlohmann::json provenance(const std::vector<std::string>& command_line, const World& world);

/// Returns the device that a network takes in each process where a study has this `device`: "rank 1
/// on node7: cuda:1". Empty if no networks are loaded. Collective.
std::vector<std::string> network_devices(World& world, const std::string& device);

/// Returns the name of this machine.
std::string host_name();

/// Returns what `residuum info` prints: name and value, one line each; a last line warns where it
/// should.
std::vector<std::pair<std::string, std::string>> versions();

/// Returns the arguments as one line that a shell reads back as they were.
std::string quoted_command(const std::vector<std::string>& command_line);

}  // namespace residuum
