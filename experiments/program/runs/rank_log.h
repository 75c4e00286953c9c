#pragma once
// runs/<run_id>/ranks/rank-NNNN.log says what went wrong on one process. The first process of a
// group speaks for all on stderr; each of the others writes its own warnings and errors here, under
// its rank in the whole job. There is no file where there is nothing to write.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/notes.h"
#include "core/output_file.h"

namespace residuum {

class RankLog {
 public:
  /// Listens to notes as long as it lives. A log that `speaks` prints them and has no file.
  RankLog(int rank, bool speaks);
  RankLog(const RankLog&) = delete;
  RankLog& operator=(const RankLog&) = delete;
  RankLog(RankLog&&) = delete;
  RankLog& operator=(RankLog&&) = delete;
  ~RankLog();

  /// Lines go to the folder of this run from now on, with those that came before the first run.
  void start_run(const OutputPath& run_folder);
  /// Runs `action`, writes what it throws on this process, and rethrows it. An error that all
  /// processes throw together is not written: the one where it happened has written it.
  void guard(const std::function<void()>& action);

 private:
  void hear(NoteKind kind, const std::string& text);
  void write(const char* kind, const std::string& text);
  void flush();

  int rank_;
  bool speaks_;
  std::optional<OutputPath> folder_;
  std::vector<std::string> lines_;  // yet to be written
};

}  // namespace residuum
