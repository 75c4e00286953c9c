#pragma once
// A figure draws curves of points.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace residuum::reports {

/// The middle of the seeds at one place of the x axis, with their band; empty ones leave a gap.
struct Point {
  double x = 0;
  std::optional<double> middle;
  std::optional<double> lower;
  std::optional<double> upper;
  std::size_t n = 0;  // seeds
};

struct Curve {
  std::string label;
  std::size_t style = 0;  // colour, dash and marker: a method keeps its own in every figure
  std::vector<Point> points;
  bool is_bound = false;  // thin, grey and dashed: what another curve is held against
  std::string mark = {};  // what stands at the curve of a bound; empty: a letter
  std::optional<std::size_t> group = std::nullopt;  // the method it is of
  std::vector<std::size_t> joined = {};  // the method of each point, where it goes through several
};

}  // namespace residuum::reports
