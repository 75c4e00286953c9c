#pragma once
// This solver finds f* and x* of logistic regression with a ridge, by Newton's method with a
// backtracking line search. The Newton equation is solved by Cholesky's factorisation up to 3000
// coordinates and by conjugate gradients beyond.

#include <optional>
#include <vector>

#include "objectives/logistic_objective.h"
#include "objectives/mean_loss_objective.h"

namespace residuum {

struct LogisticMinimum {
  std::vector<double> point;  // x*
  double value = 0;           // f*
  double gradient_norm = 0;   // |grad f| reached at x*
};

/// Returns f(w) = loss + ridge and adds its gradient to `gradient` unless that is empty.
double ridge_logistic_value(const LogisticLoss& loss,
                            const RidgeRegulariser& ridge,
                            std::span<const double> w,
                            std::span<double> gradient);

/// Returns the gradient norm that counts as zero: 1e-12, times the root mean square norm of the
/// rows if that is above 1, because the rounding error of a gradient grows with its terms.
double accepted_gradient_norm(const LogisticLoss& loss);

/// Minimises to a gradient norm of 1e-12, or as far as rounding allows. The result is empty if f
/// has no minimum: without a ridge (or on the intercept, which has none) some direction may lower f
/// for ever, as it does where a hyperplane separates the classes. A gradient norm that stays above
/// the accepted one is a resource error.
std::optional<LogisticMinimum> minimise_ridge_logistic(const LogisticLoss& loss,
                                                       const RidgeRegulariser& ridge);

}  // namespace residuum
