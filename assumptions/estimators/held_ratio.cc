#include "assumptions/estimators/held_ratio.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

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

void HeldRatio::look(std::uint64_t iteration, double numerator, double denominator) {
  if (rows_ > 0) {
    const auto n = static_cast<double>(iteration - since_);
    windows_.add(since_, iteration, last_.numerator, last_.denominator);
    backward_.numerator += n * numerator;
    backward_.denominator += n * denominator;
    const double share = n * (n - 1) / 2;
    const double up = numerator - last_.numerator;
    const double down = denominator - last_.denominator;
    numerator_sq_ += share * up * up;
    product_ += share * up * down;
    denominator_sq_ += share * down * down;
  }
  last_ = {.numerator = numerator, .denominator = denominator};
  since_ = iteration;
  ++rows_;
}

Windows HeldRatio::windows() const {
  Windows all = windows_;
  if (rows_ > 0) {
    all.add(since_, std::max(end_, since_ + 1), last_.numerator, last_.denominator);
  }
  return all;
}

HeldRatio::SamplingError HeldRatio::sampling_error() const {
  const auto ratio = overall();
  if (!ratio || rows_ >= end_) {
    return {};
  }
  if (rows_ < 2) {
    return {.trend = std::numeric_limits<double>::infinity(), .variance = 0};
  }
  // No row follows the last one, so the iterations that it stands for enter both sums alike.
  const auto rest = static_cast<double>(end_ > since_ ? end_ - since_ : 1);
  const double numerator = backward_.numerator + rest * last_.numerator;
  const double denominator = backward_.denominator + rest * last_.denominator;
  if (!(denominator > 0)) {
    return {};
  }
  const double squares = numerator_sq_ - 2 * *ratio * product_ + *ratio * *ratio * denominator_sq_;
  return {.trend = *ratio - numerator / denominator,
          .variance = std::max(0.0, squares) / (denominator * denominator)};
}

Singles Singles::until(std::uint64_t end) const {
  Singles whole = *this;
  if (last && end > *last) {
    whole.stood_for += end - *last;
    whole.violating += last_violates ? end - *last : 0;
    whole.last = end;
  }
  return whole;
}

void Singles::add(std::uint64_t iteration, double value, bool violates) {
  const bool is_of_last_row = last == iteration;
  *this = until(iteration);
  last_violates = violates || (is_of_last_row && last_violates);
  last = iteration;
  ++measured;
  violations += violates ? 1 : 0;
  const bool larger = !largest || (!std::isnan(*largest) && !(value <= *largest));
  if (larger) {
    largest = value;
    where = iteration;
  }
}

bool LargestSingles::is_larger(const Seen& a, const Seen& b) {
  // The earlier of two equal values counts as the larger, so that it is the one that is named.
  return a.value > b.value || (a.value == b.value && a.iteration < b.iteration);
}

void LargestSingles::keep(const Seen& seen) {
  if (kept_.size() == kKept - 1) {
    if (!is_larger(seen, kept_.front())) {
      return;
    }
    std::pop_heap(kept_.begin(), kept_.end(), is_larger);
    kept_.pop_back();
  }
  kept_.push_back(seen);
  std::push_heap(kept_.begin(), kept_.end(), is_larger);
}

void LargestSingles::add(std::uint64_t iteration, double value) {
  if (last_) {
    last_->stands_for = iteration - last_->iteration;
    stood_for_ += last_->stands_for;
    keep(*last_);
  }
  ++measured_;
  last_ = {.value = std::isnan(value) ? std::numeric_limits<double>::infinity() : value,
           .iteration = iteration};
}

Singles LargestSingles::above(double limit) const {
  Singles singles;
  if (!last_) {
    return singles;
  }
  singles.measured = measured_;
  singles.stood_for = stood_for_;
  singles.last = last_->iteration;
  singles.last_violates = !(last_->value <= limit);
  singles.violations = singles.last_violates ? 1 : 0;
  Seen top = *last_;
  bool all_violate = singles.last_violates;
  for (const Seen& seen : kept_) {
    const bool violates = !(seen.value <= limit);
    singles.violations += violates ? 1 : 0;
    singles.violating += violates ? seen.stands_for : 0;
    all_violate = all_violate && violates;
    top = is_larger(seen, top) ? seen : top;
  }
  singles.counts_all = !all_violate || measured_ == kept_.size() + 1;
  singles.largest = top.value;
  singles.where = top.iteration;
  return singles;
}

std::optional<double> LargestSingles::largest() const { return above(0).largest; }

}  // namespace residuum
