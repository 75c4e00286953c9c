#include "objectives/data/cache_file.h"

#include "core/error.h"
#include "core/output_file.h"

namespace residuum {

bool replace_file(const std::filesystem::path& path, const std::string& content) {
  try {
    make_folder(OutputPath::named(path.parent_path()));
    remove_leftovers_beside(path);
    write_file_atomically(path, content);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace residuum
