#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "reports/terminal/watch.h"

namespace residuum::reports {

void BlockCurve::add(double x, double y) {
  constexpr std::size_t kMost = 1024;
  if (!std::isfinite(x) || !std::isfinite(y)) {
    return;
  }
  if (!points_.empty() && ++skipped_ < stride_) {
    return;
  }
  skipped_ = 0;
  points_.push_back({.x = x, .y = y});
  if (points_.size() < kMost) {
    return;
  }
  for (std::size_t i = 0; 2 * i < points_.size(); ++i) {
    points_[i] = points_[2 * i];
  }
  points_.resize((points_.size() + 1) / 2);
  stride_ *= 2;
}

namespace {

/// Gives stretches without a point the heights of a line between those that have some; the first
/// and the last stretch have one.
void join(std::vector<double>& means, const std::vector<double>& counts) {
  std::size_t before = 0;
  for (std::size_t i = 1; i < means.size(); ++i) {
    if (counts[i] == 0) {
      continue;
    }
    const double slope = (means[i] - means[before]) / static_cast<double>(i - before);
    for (std::size_t between = before + 1; between < i; ++between) {
      means[between] = means[before] + slope * static_cast<double>(between - before);
    }
    before = i;
  }
  std::fill(means.begin() + static_cast<std::ptrdiff_t>(before), means.end(), means[before]);
}

}  // namespace

/// Returns the mean of y in each stretch.
std::vector<double> BlockCurve::means(std::size_t width) const {
  const double first = points_.front().x;
  const double length = points_.back().x - first;
  std::vector<double> means(width, 0.0);
  std::vector<double> counts(width, 0.0);
  for (const auto& point : points_) {
    const double share = length > 0 ? (point.x - first) / length : 0;
    const auto at =
        static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
    const std::size_t stretch = std::min(at, width - 1);
    ++counts[stretch];
    means[stretch] += (point.y - means[stretch]) / counts[stretch];
  }
  join(means, counts);
  return means;
}

std::string BlockCurve::blocks(std::size_t width) const {
  constexpr std::array<const char*, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr double kTop = kBlocks.size() - 1;
  constexpr double kManyTimes = 100;
  if (points_.empty() || width == 0) {
    return std::string(width, ' ');
  }
  auto heights = means(width);
  const auto [least, largest] = std::minmax_element(heights.begin(), heights.end());
  if (*least > 0 && *largest >= kManyTimes * *least) {
    std::transform(
        heights.begin(), heights.end(), heights.begin(), [](double y) { return std::log(y); });
  }
  const double low = *least;
  const double range = *largest - low;
  std::string text;
  for (const double height : heights) {
    const double share = range > 0 ? (height - low) / range : 0.5;
    text += kBlocks.at(static_cast<std::size_t>(std::lround(share * kTop)));
  }
  return text;
}

}  // namespace residuum::reports
