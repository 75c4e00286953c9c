#pragma once
// The words of a text are kept between runs, in one file per text. The file is named by the text's
// fingerprint and the number of tokens that are trained on.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace residuum {

/// Returns cache_dir/vocabulary-<print>.txt. The file has a line that says what it is and how many
/// words follow, one word per line, and a hash of all that.
std::filesystem::path vocabulary_file(const std::filesystem::path& cache_dir,
                                      const std::string& print);

/// Returns the words kept under this print; absent if there are none, or if the file was changed.
/// With an empty `cache_dir` nothing is kept.
std::optional<std::vector<std::string>> load_vocabulary(const std::filesystem::path& cache_dir,
                                                        const std::string& print);

/// Replaces the file in one step. If that fails, a note on stderr says so. Words must not contain
/// line breaks.
void store_vocabulary(const std::filesystem::path& cache_dir,
                      const std::string& print,
                      const std::vector<std::string>& words);

}  // namespace residuum
