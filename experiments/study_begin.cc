#include "experiments/study_begin.h"

#include "core/error.h"
#include "experiments/study_end.h"
#include "reports/files.h"
#include "reports/result_folder.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;

/// Before anything is written: a folder of ours has at least the lock.
void refuse_foreign_folder(const fs::path& result_dir) {
  if (!fs::exists(result_dir)) {
    return;
  }
  require(fs::is_directory(result_dir), "{} is a file; give another --out", result_dir.string());
  require(fs::is_empty(result_dir) || fs::exists(result_dir / ".lock") ||
              fs::exists(result_dir / "study.resolved.json"),
          "{} is not empty and holds no study; give another --out",
          result_dir.string());
}

/// Shards of one study may work side by side, each on runs of its own.
std::unique_ptr<FileLock> lock_folder(const fs::path& result_dir, const Shard& shard) {
  const auto kind = shard.of > 1 ? FileLock::Kind::shared : FileLock::Kind::exclusive;
  auto lock = FileLock::attempt(result_dir / ".lock", kind);
  require(lock != nullptr,
          "another process is writing {}; wait for it or give another --out",
          result_dir.string());
  return lock;
}

/// The name of the study whose results lie there.
std::string name_in(const fs::path& resolved) {
  try {
    return reports::text_at(reports::read_json(resolved), "name");
  } catch (const Error& error) {
    usage_error("{}; remove it if the results beside it are of this study, else give another --out",
                error.what());
  }
}

}  // namespace

std::unique_ptr<FileLock> begin_study(const fs::path& result_dir,
                                      const Study& study,
                                      const std::vector<std::string>& ids,
                                      const std::string& command,
                                      const Options& options) {
  const fs::path resolved = result_dir / "study.resolved.json";
  refuse_foreign_folder(result_dir);
  auto lock = lock_folder(result_dir, options.shard);
  const auto alone = FileLock::wait(result_dir / kTablesLock);
  if (fs::exists(resolved)) {
    const std::string other = name_in(resolved);
    require(other == study.name,
            "{} holds the results of study '{}', this one is '{}'; give another --out",
            result_dir.string(),
            other,
            study.name);
  }
  reports::write_file_atomically(result_dir / "study.toml", study.text);
  reports::write_json_atomically(resolved,
                                 {{"name", study.name},
                                  {"title", study.title},
                                  {"runs", ids},
                                  {"command", command},
                                  {"overrides", options.overrides}});
  return lock;
}

}  // namespace residuum
