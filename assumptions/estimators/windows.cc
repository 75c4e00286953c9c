#include "assumptions/estimators/windows.h"

#include <algorithm>
#include <cassert>

namespace residuum {

Windows::Windows(std::uint64_t iterations, std::size_t windows)
    : iterations_(std::max<std::uint64_t>(iterations, 1)),
      windows_(static_cast<std::size_t>(
          std::min<std::uint64_t>(iterations_, std::max<std::size_t>(windows, 1)))) {}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a time, and a ratio in its usual order
void Windows::add_ratio(std::uint64_t iteration, double numerator, double denominator) {
  // i = floor(iteration * windows / iterations) without overflow: a run is far below 2^53 long.
  const double place = static_cast<double>(iteration) * static_cast<double>(windows_.size()) /
                       static_cast<double>(iterations_);
  auto& sums = windows_[std::min(static_cast<std::size_t>(place), windows_.size() - 1)];
  sums.numerator += numerator;
  sums.denominator += denominator;
  ++sums.count;
}

void Windows::merge(const Windows& other) {
  assert(other.iterations_ == iterations_ && other.windows_.size() == windows_.size());
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    windows_[i].numerator += other.windows_[i].numerator;
    windows_[i].denominator += other.windows_[i].denominator;
    windows_[i].count += other.windows_[i].count;
  }
}

std::optional<double> Windows::window(std::size_t i) const {
  const Sums& sums = windows_.at(i);
  if (sums.count == 0 || sums.denominator == 0) {
    return std::nullopt;
  }
  return sums.numerator / sums.denominator;
}

std::optional<double> Windows::largest() const {
  std::optional<double> best;
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    const auto value = window(i);
    if (value && !(best && *best >= *value)) {
      best = value;
    }
  }
  return best;
}

std::optional<double> Windows::overall() const {
  Sums all;
  for (const auto& sums : windows_) {
    all.numerator += sums.numerator;
    all.denominator += sums.denominator;
    all.count += sums.count;
  }
  if (all.count == 0 || all.denominator == 0) {
    return std::nullopt;
  }
  return all.numerator / all.denominator;
}

std::uint64_t Windows::count() const {
  std::uint64_t count = 0;
  for (const auto& sums : windows_) {
    count += sums.count;
  }
  return count;
}

}  // namespace residuum
