#pragma once
// Where the words of a text are kept between runs: one file per text, named by what tells texts
// apart, its fingerprint and how many of its tokens are trained on.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residuum {

/// cache_dir/vocabulary-<print>.txt: a line that says what it is and how many
/// words follow, one word a line, and a hash of all that.
std::filesystem::path vocabulary_file(const std::filesystem::path& cache_dir,
                                      const std::string& print);

/// The words kept under this print; absent where there are none, or where the file is not exactly
/// what was written. An empty `cache_dir`: nothing is kept.
std::optional<std::vector<std::string>> load_vocabulary(const std::filesystem::path& cache_dir,
                                                        const std::string& print);

/// Replaces the file in one step. If that cannot be done a note on stderr says so. Words have no
/// line break in them.
void store_vocabulary(const std::filesystem::path& cache_dir,
                      const std::string& print,
                      const std::vector<std::string>& words);

}  // namespace residuum
