#pragma once
// A curve of a terminal is a row of block characters, one a stretch of its range.

#include <cstddef>
#include <string>
#include <vector>

namespace residuum::reports {

class BlockCurve {
 public:
  /// Adds a point; those that are not finite are left out. With 1024 points every second one goes.
  void add(double x, double y);
  bool empty() const { return points_.empty(); }

  /// Returns `width` characters ▁▂▃▄▅▆▇█ for the means of y over as many equal stretches of x; a
  /// stretch without a point has the height before it. Heights go from the least mean to the
  /// largest, by logarithms if all are positive and the largest is 100 times the least. A curve of
  /// one height is in the middle; one without points has spaces.
  std::string blocks(std::size_t width) const;

 private:
  struct Point {
    double x = 0;
    double y = 0;
  };
  std::vector<double> means(std::size_t width) const;

  std::vector<Point> points_;
  std::size_t stride_ = 1;  // only every so many points are kept
  std::size_t skipped_ = 0;
};

}  // namespace residuum::reports
