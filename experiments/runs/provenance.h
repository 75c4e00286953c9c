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

/// Returns what `residuum info` prints: name and value, one line each; a last line warns where it
/// should.
std::vector<std::pair<std::string, std::string>> versions();

/// Returns the arguments as one line that a shell reads back as they were.
std::string quoted_command(const std::vector<std::string>& command_line);

}  // namespace residuum
