#include "core/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace residuum {
namespace {

/// Levenshtein's distance: the fewest insertions, deletions and substitutions of one letter.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest(std::string_view word, std::span<const std::string> known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const auto& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  const std::string best = nearest(word, known);
  if (!best.empty()) {
    return fmt::format("; did you mean '{}'?", best);
  }
  return known.empty() ? std::string() : fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace residuum
