#pragma once
// Starting the program as a user does, and a folder to do it in.

#include <filesystem>
#include <string>
#include <vector>

namespace residuum {

struct Finished {
  int code = 0;
  std::string out;
  std::string err;
};

/// Runs a program found by path or in PATH, without a shell; `folder` becomes its working
/// directory.
Finished run_program(const std::vector<std::string>& arguments,
                     const std::filesystem::path& folder);

/// The built residuum with these arguments.
Finished residuum_program(std::vector<std::string> arguments, const std::filesystem::path& folder);

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

std::string read_text(const std::filesystem::path& file);

}  // namespace residuum
