#include "reports/verdicts/silence.h"

#include <fmt/format.h>

#include <algorithm>

namespace residuum::reports {
namespace {

/// Returns how many workers the run says it has, at least one.
std::size_t workers_of(const Run& run) {
  const auto count = number_at(run.config, "config.workers.count").value_or(1);
  return count >= 1 && count < 1e15 ? static_cast<std::size_t>(count) : 1;
}

std::string sentence_of(const ResultFolder& folder, const Group& group) {
  std::size_t silent_runs = 0;
  std::size_t most = 0;
  const Run* worst = nullptr;
  for (const std::size_t i : group.runs) {
    const std::size_t silent = silent_workers(folder.runs[i]);
    silent_runs += silent > 0 ? 1 : 0;
    if (silent > most) {
      most = silent;
      worst = &folder.runs[i];
    }
  }
  const std::size_t all = workers_of(*worst);
  const std::string runs = group.runs.size() == 1
                               ? ""
                               : fmt::format(" in {} of {} runs", silent_runs, group.runs.size());
  return most >= all
             ? fmt::format("{}: nothing was ever sent{}; no verdict holds of empty messages.",
                           group.label,
                           runs)
             : fmt::format(
                   "{}: {} of {} workers never sent an entry{}; no verdict holds "
                   "of empty messages.",
                   group.label,
                   most,
                   all,
                   runs);
}

}  // namespace

std::size_t silent_workers(const Run& run) {
  if (!run.has_tables()) {
    return 0;
  }
  const double silent = number_at(run.status, "silent_workers").value_or(0);
  return silent >= 1 && silent < 1e15 ? static_cast<std::size_t>(silent) : 0;
}

bool has_silent_worker(const ResultFolder& folder, const Group& group) {
  return std::any_of(group.runs.begin(), group.runs.end(), [&](std::size_t i) {
    return silent_workers(folder.runs[i]) > 0;
  });
}

std::vector<std::string> silence_sentences(const Summary& summary) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> sentences;
  std::size_t more = 0;
  for (const auto& group : summary.groups) {
    if (!has_silent_worker(summary.folder, group.group)) {
      continue;
    }
    if (sentences.size() < kMost) {
      sentences.push_back(sentence_of(summary.folder, group.group));
    } else {
      ++more;
    }
  }
  if (more > 0) {
    sentences.push_back(fmt::format("{} further method{} a worker that never sent an entry.",
                                    more,
                                    more == 1 ? " has" : "s have"));
  }
  return sentences;
}

}  // namespace residuum::reports
