#pragma once
// The logistic objectives have two regularisers. Both act on the first `penalised` coordinates
// alone; an intercept comes after them.

#include <cstddef>
#include <span>

namespace residuum {

/// The ridge is (weight / 2) |w|^2.
struct RidgeRegulariser {
  double weight = 0;
  std::size_t penalised = 0;

  static double value_at(double w) { return 0.5 * w * w; }
  template <class Real>
  static Real slope_at(Real w) {
    return w;
  }
  /// Returns a bound of the second derivative.
  double smoothness() const { return weight; }
  /// Returns a lower bound of the curvature in `dimension` coordinates.
  double strong_convexity(std::size_t dimension) const {
    return penalised == dimension ? weight : 0;
  }
};

/// This regulariser is weight * sum_j w_j^2 / (1 + w_j^2). It is bounded, so it is not convex; its
/// curvature lies between -weight/2 (at w_j = 1) and 2 weight (at 0).
struct BoundedRegulariser {
  double weight = 0;
  std::size_t penalised = 0;

  static double value_at(double w) { return w * w / (1 + w * w); }
  template <class Real>
  static Real slope_at(Real w) {
    const Real scale = 1 / (1 + w * w);
    return 2 * w * scale * scale;
  }
  double smoothness() const { return 2 * weight; }
  static double strong_convexity(std::size_t /*dimension*/) { return 0; }
};

template <class Regulariser>
double regulariser_value(const Regulariser& regulariser, std::span<const double> w) {
  double sum = 0;
  for (const double w_j : w.first(regulariser.penalised)) {
    sum += Regulariser::value_at(w_j);
  }
  return regulariser.weight * sum;
}

/// gradient := grad of the regulariser at w; a stochastic gradient starts from it.
template <class Regulariser, class Real>
void set_regulariser_gradient(const Regulariser& regulariser,
                              std::span<const Real> w,
                              std::span<Real> gradient) {
  const auto weight = static_cast<Real>(regulariser.weight);
  std::size_t j = 0;
  for (; j < regulariser.penalised; ++j) {
    gradient[j] = weight * Regulariser::slope_at(w[j]);
  }
  for (; j < w.size(); ++j) {
    gradient[j] = 0;
  }
}

/// gradient += share * grad of the regulariser at w.
template <class Regulariser>
void add_regulariser_gradient(const Regulariser& regulariser,
                              double share,
                              std::span<const double> w,
                              std::span<double> gradient) {
  for (std::size_t j = 0; j < regulariser.penalised; ++j) {
    gradient[j] += share * regulariser.weight * Regulariser::slope_at(w[j]);
  }
}

}  // namespace residuum
