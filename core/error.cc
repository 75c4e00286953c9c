#include "core/error.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/text.h"

namespace residuum {
namespace {

/// A message names the place at its beginning and the cure at its end. With what stands before it
/// on a line, such as "error: " or the name of a run, it has at most 1000 characters.
constexpr std::size_t kLongestMessage = 900;

/// Returns the optimal string alignment distance: the fewest insertions, deletions, substitutions
/// of one letter and swaps of two neighbours, each letter being touched once.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> distance(a.size() + 1,
                                                 std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      const std::size_t substituted = distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      distance[i][j] = std::min({substituted, distance[i - 1][j] + 1, distance[i][j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

}  // namespace

Error::Error(ExitCode code, std::string_view message)
    : std::runtime_error(shortened(harmless(message), kLongestMessage)), code_(code) {}

std::string nearest(std::string_view word, std::span<const std::string> known) {
  constexpr std::size_t kLongestName = 100;  // the distance takes time with the product of lengths
  std::string best;
  if (word.size() > kLongestName) {
    return best;
  }
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
  std::string best = nearest(word, known);
  constexpr std::size_t kShortestPart = 4;
  if (best.empty() && word.size() >= kShortestPart) {  // "threshold" means "hard-threshold"
    const auto whole = std::find_if(known.begin(), known.end(), [&](const std::string& name) {
      return name.find(word) != std::string::npos;
    });
    best = whole == known.end() ? std::string() : *whole;
  }
  if (!best.empty()) {
    return fmt::format("; did you mean '{}'?", best);
  }
  return known.empty() ? std::string() : fmt::format("; known: {}", fmt::join(known, ", "));
}

}  // namespace residuum
