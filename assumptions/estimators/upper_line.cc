#include "assumptions/estimators/upper_line.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace residuum {
namespace {

struct PlanePoint {
  double x = 0;
  double y = 0;
};

/// The turn is positive where b lies below the line from a to c.
double turn(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/// Corners of the upper hull, x strictly increasing.
std::vector<PlanePoint> upper_hull(std::vector<PlanePoint> points) {
  std::sort(points.begin(), points.end(), [](const PlanePoint& a, const PlanePoint& b) {
    return a.x < b.x || (a.x == b.x && a.y > b.y);
  });
  std::vector<PlanePoint> hull;
  for (const auto& point : points) {
    if (!hull.empty() && hull.back().x == point.x) {
      continue;  // the higher one is there already
    }
    while (hull.size() >= 2 && turn(hull[hull.size() - 2], hull.back(), point) >= 0) {
      hull.pop_back();
    }
    hull.push_back(point);
  }
  return hull;
}

/// Slope of the hull just right of `x`; none right of its last corner.
std::optional<double> slope_right_of(const std::vector<PlanePoint>& hull, double x) {
  for (std::size_t i = 1; i < hull.size(); ++i) {
    if (x < hull[i].x) {
      return (hull[i].y - hull[i - 1].y) / (hull[i].x - hull[i - 1].x);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<UpperLine> upper_line(std::span<const double> x, std::span<const double> y) {
  assert(x.size() == y.size());
  if (x.empty()) {
    return std::nullopt;
  }
  std::vector<PlanePoint> points{{.x = 0, .y = 0}};
  for (std::size_t i = 0; i < x.size(); ++i) {
    points.push_back({.x = x[i], .y = y[i]});
  }
  const double centre = std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
  // A supporting line may turn from the slope left of the centre to the slope right of it.
  UpperLine line;
  line.slope = std::max(0.0, slope_right_of(upper_hull(points), centre).value_or(0));
  for (const auto& point : points) {
    line.offset = std::max(line.offset, point.y - line.slope * point.x);
  }
  return line;
}

}  // namespace residuum
