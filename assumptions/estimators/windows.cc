#include "assumptions/estimators/windows.h"

#include <algorithm>
#include <cassert>

namespace residuum {

Windows::Windows(std::uint64_t iterations, std::size_t windows)
    : iterations_(std::max<std::uint64_t>(iterations, 1)),
      windows_(static_cast<std::size_t>(
          std::min<std::uint64_t>(iterations_, std::max<std::size_t>(windows, 1)))) {}

void Windows::Sums::add(const Sums& other) {
  numerator += other.numerator;
  denominator += other.denominator;
  iterations += other.iterations;
  rows += other.rows;
}

std::optional<double> Windows::Sums::ratio() const {
  if (iterations == 0 || (denominator == 0 && !(numerator > 0))) {
    return std::nullopt;  // a ratio to nothing at all is infinite
  }
  return numerator / denominator;
}

/// floor(iteration * windows / iterations); a run has fewer than 2^32 iterations.
std::size_t Windows::window_of(std::uint64_t iteration) const {
  const auto place = iteration * windows_.size() / iterations_;
  return std::min(static_cast<std::size_t>(place), windows_.size() - 1);
}

// NOLINTNEXTLINE(bugprone-easily-swappable-parameters): a stretch, and a ratio in its usual order
void Windows::add(std::uint64_t begin, std::uint64_t end, double numerator, double denominator) {
  end = std::min(end, iterations_);
  for (std::uint64_t t = begin; t < end;) {
    const std::size_t i = window_of(t);
    // The first iteration of the next window: ceil((i + 1) iterations / windows).
    const std::uint64_t next = ((i + 1) * iterations_ + windows_.size() - 1) / windows_.size();
    const std::uint64_t part = std::min(end, next) - t;
    const auto weight = static_cast<double>(part);
    windows_[i].add({.numerator = weight * numerator,
                     .denominator = weight * denominator,
                     .iterations = part,
                     .rows = t == begin ? 1U : 0U});
    t += part;
  }
}

void Windows::merge(const Windows& other) {
  assert(other.iterations_ == iterations_ && other.windows_.size() == windows_.size());
  for (std::size_t i = 0; i < windows_.size(); ++i) {
    windows_[i].add(other.windows_[i]);
  }
}

std::optional<double> Windows::window(std::size_t i) const { return windows_.at(i).ratio(); }

std::optional<std::array<double, 4>> Windows::quarters() const {
  std::array<double, 4> ratios{};
  if (windows_.size() < ratios.size()) {
    return std::nullopt;
  }
  for (std::size_t q = 0; q < ratios.size(); ++q) {
    Sums sums;
    for (std::size_t i = q * windows_.size() / 4; i < (q + 1) * windows_.size() / 4; ++i) {
      sums.add(windows_[i]);
    }
    const auto ratio = sums.ratio();
    if (!ratio) {
      return std::nullopt;
    }
    ratios.at(q) = *ratio;
  }
  return ratios;
}

std::optional<double> Windows::largest() const {
  std::optional<double> best;
  for (const auto& sums : windows_) {
    best = std::max(best, sums.ratio());
  }
  return best;
}

std::optional<double> Windows::largest_beginning() const {
  std::optional<double> best;
  Sums beginning;
  for (const auto& sums : windows_) {
    beginning.add(sums);
    best = std::max(best, beginning.ratio());
  }
  return best;
}

std::optional<double> Windows::overall() const {
  Sums all;
  for (const auto& sums : windows_) {
    all.add(sums);
  }
  return all.ratio();
}

std::uint64_t Windows::count() const {
  std::uint64_t rows = 0;
  for (const auto& sums : windows_) {
    rows += sums.rows;
  }
  return rows;
}

}  // namespace residuum
