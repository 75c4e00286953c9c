#pragma once
// What made a result: versions, machine, command; of the environment only an allow-list.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/cluster/world.h"

namespace residuum {

/// Command line, build, libraries, machine, allow-listed environment.
nlohmann::json provenance(const std::vector<std::string>& command_line, const World& world);

/// What `residuum info` prints: name and value, one line each; a last line warns where it should.
std::vector<std::pair<std::string, std::string>> versions();

/// The arguments as one line that a shell reads back as they were.
std::string quoted_command(const std::vector<std::string>& command_line);

}  // namespace residuum
