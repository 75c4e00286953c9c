#include "reports/page/joined_curves.h"

#include <algorithm>
#include <utility>

namespace residuum::reports {

std::vector<Curve> join_methods(std::vector<JoinedPoint> points) {
  std::vector<std::string> labels;
  for (const auto& one : points) {
    if (std::find(labels.begin(), labels.end(), one.label) == labels.end()) {
      labels.push_back(one.label);
    }
  }
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) {
    return a.point.x < b.point.x;
  });
  std::vector<Curve> curves;
  for (auto& label : labels) {
    Curve curve{.label = std::move(label), .style = curves.size(), .points = {}};
    for (const auto& one : points) {
      if (one.label == curve.label) {
        curve.points.push_back(one.point);
        curve.joined.push_back(one.group);
      }
    }
    if (curve.points.size() > 1) {
      curves.push_back(std::move(curve));
    }
  }
  return curves;
}

}  // namespace residuum::reports
