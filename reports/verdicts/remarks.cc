#include "reports/verdicts/remarks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/verdicts/verdict.h"

namespace residuum::reports {

// --- Workers that never sent anything ------------------------------------------------------------

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

// --- The k that runs -----------------------------------------------------------------------------

namespace {

struct Ks {
  double asked = 0;
  double run = 0;
};

/// Returns both where they differ.
std::optional<Ks> different_ks(const Run& run) {
  constexpr double kPartOfDensity = 0.1;  // layers and blocks round a density, one by one
  const auto k = number_at(run.status, "k");
  const auto dimension = number_at(run.status, "dimension");
  const auto asked = number_at(run.config, "config.sparsifier.k");
  if (k && asked) {
    return *k == *asked ? std::nullopt : std::optional(Ks{.asked = *asked, .run = *k});
  }
  const auto density = number_at(run.config, "config.sparsifier.density");
  if (!k || !density || !dimension) {
    return std::nullopt;
  }
  const double meant = std::max(1.0, std::floor(*density * *dimension));
  return std::abs(*k - meant) > kPartOfDensity * meant
             ? std::optional(Ks{.asked = meant, .run = *k})
             : std::nullopt;
}

}  // namespace

std::string asked_k_sentence(const Summary& summary) {
  constexpr std::size_t kMostNamed = 3;
  std::string named;
  std::size_t methods = 0;
  for (const auto& group : summary.groups) {
    const auto& runs = group.group.runs;
    const auto found = std::find_if(runs.begin(), runs.end(), [&](std::size_t i) {
      return different_ks(summary.folder.runs[i]).has_value();
    });
    if (found == runs.end()) {
      continue;
    }
    if (methods < kMostNamed) {
      const auto ks = *different_ks(summary.folder.runs[*found]);
      named += fmt::format("{}{} asked, {} run ({})",
                           methods == 0 ? "" : "; ",
                           short_number(ks.asked),
                           short_number(ks.run),
                           group.group.label);
    }
    ++methods;
  }
  if (methods == 0) {
    return {};
  }
  const std::string more =
      methods > kMostNamed ? fmt::format("; and {} more", methods - kMostNamed) : std::string();
  return fmt::format("The k that runs is not the k asked for: {}{}.", named, more);
}

// --- Mass that is lost by design -----------------------------------------------------------------

namespace {

/// Counts the methods by what they lose by design.
using Losses = std::vector<std::pair<std::string, std::size_t>>;

void count_losses(const Summary& summary, const GroupSummary& group, Losses& losses) {
  const auto& runs = group.group.runs;
  const auto known_of = [&](std::size_t run) -> const Json& {
    return value_at(summary.folder.runs[run].status, "known_losses");
  };
  const auto run = std::find_if(
      runs.begin(), runs.end(), [&](std::size_t one) { return known_of(one).is_array(); });
  for (const auto& loss : run == runs.end() ? Json::array() : known_of(*run)) {
    if (!loss.is_string()) {
      continue;
    }
    const auto text = loss.get<std::string>();
    const auto found = std::find_if(
        losses.begin(), losses.end(), [&](const auto& counted) { return counted.first == text; });
    if (found == losses.end()) {
      losses.emplace_back(text, 1);
    } else {
      ++found->second;
    }
  }
}

}  // namespace

std::string known_losses_sentence(const Summary& summary) {
  std::size_t leaking = 0;
  Losses losses;
  for (const auto& group : summary.groups) {
    if (verdict_of(group.check("conservation")) == Verdict::known) {
      ++leaking;
      count_losses(summary, group, losses);
    }
  }
  if (leaking == 0) {
    return {};
  }
  std::string words = fmt::format("Conservation fails for {} method{}, as is known of {}",
                                  leaking,
                                  leaking == 1 ? "" : "s",
                                  leaking == 1 ? "it" : "them");
  for (const auto& [loss, count] : losses) {
    words += loss == losses.front().first ? ": " : "; ";
    words += count == leaking ? loss : fmt::format("{} ({} of {})", loss, count, leaking);
  }
  return words + ".";
}

}  // namespace residuum::reports
