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
/// on node7: cuda:1 (NVIDIA H100)". Empty if no networks are loaded. Collective.
std::vector<std::string> network_devices(World& world, const std::string& device);

/// Returns the name of this machine.
std::string host_name();

/// Returns what `residuum info` prints: name and value, one line each; a last line warns where it
/// should.
std::vector<std::pair<std::string, std::string>> versions();

/// Returns the build that a result is of: version, revision, compiler and its flags. Other builds
/// may give other bits. The revision of sources that were changed since a commit ends in "-dirty".
std::string program_version();

/// Returns the build that a provenance names; empty where it names none.
std::string program_version(const nlohmann::json& provenance);

/// Returns the arguments as one line that a shell reads back as they were.
std::string quoted_command(const std::vector<std::string>& command_line);

}  // namespace residuum
