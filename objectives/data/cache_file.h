#pragma once
// Cache files only save work; they are written in one step or not at all.

#include <filesystem>
#include <string>

namespace residuum {

/// Replaces the file by one with this content, so that a reader never sees half of it, and makes
/// its folder if needed. Returns false if that fails; then nothing has changed.
bool replace_file(const std::filesystem::path& path, const std::string& content);

}  // namespace residuum
