#include "reports/verdicts/known_losses.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reports/verdicts/verdict.h"

namespace residuum::reports {
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
