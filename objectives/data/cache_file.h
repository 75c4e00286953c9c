#pragma once
// Files that only save work: written in one step or not at all.

#include <filesystem>
#include <string>

namespace residuum {

/// Puts a file with this content in the place of what is there, so that a reader never sees half of
/// it; makes the folder where there is none. False if it cannot be done; then nothing has changed.
bool replace_file(const std::filesystem::path& path, const std::string& content);

}  // namespace residuum
