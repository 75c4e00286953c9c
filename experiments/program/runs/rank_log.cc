#include "experiments/program/runs/rank_log.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "core/cluster/world.h"
#include "core/text.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/run_status.h"

namespace residuum {

RankLog::RankLog(int rank, bool speaks) : rank_(rank), speaks_(speaks) {
  set_note_listener([this](NoteKind kind, const std::string& text) { hear(kind, text); });
}

RankLog::~RankLog() { set_note_listener({}); }

void RankLog::start_run(const OutputPath& run_folder) {
  folder_ = run_folder / "ranks";
  flush();
}

void RankLog::guard(const std::function<void()>& action) {
  try {
    action();
  } catch (const SharedError&) {
    throw;
  } catch (const std::bad_alloc&) {
    write("error", "out of memory");
    throw;
  } catch (const std::exception& error) {
    write("error", error.what());
    throw;
  }
}

void RankLog::hear(NoteKind kind, const std::string& text) {
  if (speaks_) {
    say(fmt::format("{}: {}", kind == NoteKind::note ? "note" : "warning", text));
  } else if (kind == NoteKind::warning) {
    write("warning", text);
  }
}

void RankLog::write(const char* kind, const std::string& text) {
  if (!speaks_) {
    lines_.push_back(fmt::format("{} {}: {}", utc_now(), kind, harmless(text)));
    flush();
  }
}

/// A log that cannot be written must not hide its messages, so they go to stderr then.
void RankLog::flush() {
  if (!folder_ || lines_.empty()) {
    return;
  }
  try {
    make_folder(*folder_);
    append_to_file(*folder_ / fmt::format("rank-{:04}.log", rank_),
                   fmt::format("{}\n", fmt::join(lines_, "\n")));
  } catch (const Error&) {
    for (const auto& line : lines_) {
      say(fmt::format("rank {}: {}", rank_, line));
    }
  }
  lines_.clear();
}

}  // namespace residuum
