#pragma once
// Conjugate gradients (Hestenes, Stiefel 1952) solve H s = r where products with the symmetric
// matrix H are all that there is of it. Eigen's solver takes a matrix type that stands for H; a
// function is less code, and a request to stop is seen in every step.

#include <Eigen/Core>

#include "core/stop.h"

namespace residuum {

/// The end of an iteration: |r - H s|^2 <= residual_sq, or so many steps.
struct ConjugateGradientEnd {
  double residual_sq = 0;
  Eigen::Index steps = 0;
};

/// Returns s with H s = `residual`, as far as `end` says or until H is not positive along a
/// direction. product(v) returns H v.
template <class Product>
Eigen::VectorXd conjugate_gradients(Eigen::VectorXd residual,
                                    const ConjugateGradientEnd& end,
                                    const Product& product) {
  Eigen::VectorXd solution = Eigen::VectorXd::Zero(residual.size());
  Eigen::VectorXd direction = residual;
  double residual_sq = residual.squaredNorm();
  for (Eigen::Index i = 0; i < end.steps && residual_sq > end.residual_sq; ++i) {
    stop_if_requested();
    const Eigen::VectorXd image = product(direction);
    const double curvature = direction.dot(image);
    if (!(curvature > 0)) {
      break;
    }
    const double length = residual_sq / curvature;
    solution += length * direction;
    residual -= length * image;
    const double next_sq = residual.squaredNorm();
    direction = residual + (next_sq / residual_sq) * direction;
    residual_sq = next_sq;
  }
  return solution;
}

/// Solves H s = -gradient to a relative residual of 1e-3, which makes Newton's method fast and
/// linear at the end.
template <class Product>
Eigen::VectorXd newton_step(const Eigen::VectorXd& gradient, const Product& product) {
  constexpr double kRelativeResidual = 1e-3;
  return conjugate_gradients(
      -gradient,
      {.residual_sq = kRelativeResidual * kRelativeResidual * gradient.squaredNorm(),
       .steps = 10 * gradient.size()},
      product);
}

}  // namespace residuum
