#include "objectives/data/cache_file.h"

#include <fmt/format.h>

#include <fstream>
#include <system_error>
#include <unistd.h>

namespace residuum {
namespace {

bool write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  return !file.fail();
}

}  // namespace

bool replace_file(const std::filesystem::path& path, const std::string& content) {
  auto temporary = path;
  temporary += fmt::format(".{}.tmp", getpid());  // other processes may write the same file
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (write_file(temporary, content)) {
    std::filesystem::rename(temporary, path, error);
    if (!error) {
      return true;
    }
  }
  std::filesystem::remove(temporary, error);
  return false;
}

}  // namespace residuum
