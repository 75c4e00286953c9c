#pragma once
// A joined curve goes through the ends of several methods that differ in one key only, such as the
// number of workers.

#include <cstddef>
#include <string>
#include <vector>

#include "reports/analysis/curve.h"

namespace residuum::reports {

/// One method's place on a joined curve.
struct JoinedPoint {
  std::string label;  // of the curve: the method without the key
  Point point;
  std::size_t group = 0;  // the method's place in the study
};

/// Returns a curve for each label, in the order in which the labels first come, with its points in
/// the order of x. A label with one point makes no curve, and styles are counted without it.
std::vector<Curve> join_methods(std::vector<JoinedPoint> points);

}  // namespace residuum::reports
