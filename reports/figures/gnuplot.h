#pragma once
// This file runs gnuplot on a script, without a shell in between.

#include <filesystem>
#include <string>

namespace residuum::reports {

/// Runs `gnuplot -d SCRIPT` in `folder`; -d keeps the user's own settings out. Returns nothing when
/// it went well, else one line that says why not.
std::string run_gnuplot(const std::filesystem::path& folder, const std::string& script);

}  // namespace residuum::reports
