#include "reports/verdicts/asked_k.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "reports/numbers/words.h"

namespace residuum::reports {
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

}  // namespace residuum::reports
