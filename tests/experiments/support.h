#pragma once
// Starting the program as a user does, and a folder to do it in.

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "objectives/network_module.h"

/// Skips a test, or with SetUp all tests of a fixture, in a build without libtorch.
#define RESIDUUM_NEEDS_NETWORKS()                 \
  if (!networks_are_built()) {                    \
    GTEST_SKIP() << "this build has no libtorch"; \
  }                                               \
  static_assert(true)

namespace residuum {

struct Finished {
  int code = 0;
  std::string out;
  std::string err;
};

/// An empty folder that goes with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& content) const;

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& file) {
  const std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Runs a program found by path or in PATH, without a shell; `folder` becomes its working
/// directory.
inline Finished run_program(const std::vector<std::string>& arguments,
                            const std::filesystem::path& folder) {
  const auto out = folder / "captured.out";
  const auto err = folder / "captured.err";
  std::vector<std::string> copies = arguments;
  std::vector<char*> argv;
  for (auto& argument : copies) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    constexpr mode_t kMode = 0644;
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode), STDOUT_FILENO);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, kMode), STDERR_FILENO);
    if (chdir(folder.c_str()) == 0) {
      execvp(argv.front(), argv.data());
    }
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .out = read_text(out),
          .err = read_text(err)};
}

/// The built residuum with these arguments.
inline Finished residuum_program(const std::vector<std::string>& arguments,
                                 const std::filesystem::path& folder) {
  std::vector<std::string> line{RESIDUUM_PROGRAM};
  line.insert(line.end(), arguments.begin(), arguments.end());
  return run_program(line, folder);
}

inline TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "residuum-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no temporary folder");
  }
  path_ = name;
}

inline TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

inline std::filesystem::path TemporaryFolder::write(const std::string& name,
                                                    const std::string& content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
  return path_ / name;
}

/// Returns whether the text of a study has a network for its objective.
inline bool is_of_network(const std::string& study) {
  static const std::regex line("(?:^|\n)\\[objective\\]\nkind +=  *\"([^\"]+)\"");
  std::smatch found;
  if (!std::regex_search(study, found, line)) {
    return false;
  }
  const auto networks = network_objectives();
  return std::any_of(networks.begin(), networks.end(), [&found](const ObjectiveEntry& entry) {
    return entry.name == found[1].str();
  });
}

}  // namespace residuum
