#pragma once
// This fixture serves the tests of hostile files, folders and streams.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/tiny_study.h"

namespace residuum {

class Hostile : public TinyStudy {
 protected:
  /// The program as a shell starts it, with redirections; the words are ours.
  Finished in_shell(const std::string& words) const {
    return run_program({"bash", "-c", std::string(RESIDUUM_PROGRAM) + " " + words}, folder_.path());
  }
  nlohmann::json summary() const {
    return nlohmann::json::parse(read_text(results() / "summary.json"));
  }
  /// The folders of the runs, in the order of their names.
  std::vector<std::filesystem::path> run_folders() const {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(results() / "runs")) {
      folders.push_back(entry.path());
    }
    std::sort(folders.begin(), folders.end());
    return folders;
  }
};

inline std::size_t lines_of(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace residuum
