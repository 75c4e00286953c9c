#include "assumptions/estimators/tail_bound.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <numeric>
#include <vector>

namespace residuum {
namespace {

constexpr double kSquareRounding = 1e-12;  // relative to the largest square

double convex_fraction(const std::vector<double>& squares) {
  if (squares.size() < 3) {
    return 1;
  }
  const double room = kSquareRounding * squares.front();
  std::size_t convex = 0;
  for (std::size_t i = 0; i + 2 < squares.size(); ++i) {
    convex += squares[i] - 2 * squares[i + 1] + squares[i + 2] >= -room ? 1 : 0;
  }
  return static_cast<double>(convex) / static_cast<double>(squares.size() - 2);
}

}  // namespace

TailShape tail_shape(std::span<const double> x, std::size_t k) {
  assert(k >= 1);
  std::vector<double> squares(x.size());
  std::transform(x.begin(), x.end(), squares.begin(), [](double value) { return value * value; });
  std::sort(squares.begin(), squares.end(), std::greater<>());
  TailShape shape{.convexity = convex_fraction(squares)};
  if (k >= squares.size()) {
    return shape;
  }
  const auto d = static_cast<double>(squares.size());
  const auto kept = static_cast<double>(k);
  shape.random_ratio = 1 - kept / d;
  shape.claim = shape.random_ratio * shape.random_ratio;
  // Summing from the smallest up keeps the tail from being lost in the head's rounding.
  const auto head = squares.rend() - static_cast<std::ptrdiff_t>(k);
  const double tail = std::accumulate(squares.rbegin(), head, 0.0);
  const double total = std::accumulate(head, squares.rend(), tail);
  if (total == 0) {
    return shape;
  }
  const double least = squares.back();
  const double bound =
      shape.random_ratio * (1 - kept / (d - 1)) * (total - d * least) + (d - kept) * least;
  shape.ratio = tail / total;
  shape.bound = bound / total;
  return shape;
}

}  // namespace residuum
