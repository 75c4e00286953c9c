#include "objectives/newton.h"

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/elementary.h"
#include "core/error.h"
#include "core/stop.h"
#include "objectives/conjugate_gradients.h"
#include "objectives/spectrum.h"

namespace residuum {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kWantedGradientNorm = 1e-12;
constexpr Index kCholeskyLimit = 3000;
constexpr int kNewtonSteps = 300;

std::span<const double> as_span(const VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
std::span<double> as_span(VectorXd& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

class NewtonSolver {
 public:
  NewtonSolver(const LogisticLoss& loss, const RidgeRegulariser& ridge)
      : loss_(loss),
        ridge_diagonal_(VectorXd::Zero(static_cast<Index>(loss.dimension()))),
        ridge_(ridge),
        curvature_(static_cast<Index>(loss.samples())),
        product_(static_cast<Index>(loss.samples())) {
    ridge_diagonal_.head(static_cast<Index>(ridge.penalised)).setConstant(ridge.weight);
  }

  double value(const VectorXd& w) const {
    return ridge_logistic_value(loss_, ridge_, as_span(w), {});
  }
  double value_and_gradient(const VectorXd& w, VectorXd& gradient) const {
    gradient.setZero(w.size());
    return ridge_logistic_value(loss_, ridge_, as_span(w), as_span(gradient));
  }

  /// Returns s with (grad^2 f(w)) s = -gradient.
  VectorXd step(const VectorXd& w, const VectorXd& gradient) {
    set_curvature(w);
    return w.size() <= kCholeskyLimit
               ? cholesky_step(gradient)
               : newton_step(gradient, [&](const VectorXd& v) { return hessian_product(v); });
  }

  /// False where the gradient vanishes at w and Newton's step does not, because the curvature
  /// vanishes with it: on a separated sample that step raises the margin by about 1 for ever. The
  /// step is measured by the margins, so that neither units nor flat directions matter.
  bool is_minimum(const VectorXd& w, const VectorXd& gradient) {
    if (is_strongly_convex()) {
      return true;
    }
    constexpr double kVanishingMargin = 1e-4;
    const VectorXd newton_step = step(w, gradient);
    loss_.rows().multiply(as_span(newton_step), as_span(product_));
    return product_.lpNorm<Eigen::Infinity>() <= kVanishingMargin;
  }

 private:
  bool is_strongly_convex() const {
    return ridge_.weight > 0 && ridge_.penalised == loss_.dimension();
  }

  /// curvature_i = (1/n) sigma_i (1 - sigma_i): grad^2 f = A^T diag(curvature) A + ridge.
  void set_curvature(const VectorXd& w) {
    loss_.rows().multiply(as_span(w), as_span(curvature_));
    curvature_ = -curvature_.cwiseAbs();
    elementary_kernels().exp(curvature_.data(), loss_.samples());
    for (double& c : as_span(curvature_)) {
      c = c / ((1 + c) * (1 + c)) / static_cast<double>(loss_.samples());
    }
  }

  MatrixXd hessian() const {
    MatrixXd hessian = weighted_gram(loss_.rows(), loss_.all_rows(), as_span(curvature_));
    hessian.diagonal() += ridge_diagonal_;
    return hessian;
  }

  VectorXd cholesky_step(const VectorXd& gradient) const {
    const MatrixXd h = hessian();
    // If f may have flat directions, a small multiple of the identity keeps the step out of them.
    const double largest = h.diagonal().maxCoeff();
    double shift = is_strongly_convex() ? 0.0 : 1e-13 * largest;
    for (;;) {
      const Eigen::LLT<MatrixXd> factor(h + shift * MatrixXd::Identity(h.rows(), h.cols()));
      if (factor.info() == Eigen::Success) {
        return -factor.solve(gradient);
      }
      if (!(shift <= largest)) {
        resource_error(
            "the Newton equation of the logistic objective cannot be solved: the data "
            "are too large in scale; scale = \"max-abs\" helps");
      }
      shift = std::max(10 * shift, std::numeric_limits<double>::epsilon() * largest);
    }
  }

  VectorXd hessian_product(const VectorXd& v) {
    loss_.rows().multiply(as_span(v), as_span(product_));
    product_.array() *= curvature_.array();
    VectorXd result = ridge_diagonal_.cwiseProduct(v);
    loss_.rows().add_transposed(as_span(product_), as_span(result));
    return result;
  }

  const LogisticLoss& loss_;
  VectorXd ridge_diagonal_;
  RidgeRegulariser ridge_;
  VectorXd curvature_;
  VectorXd product_;
};

/// Returns w + t s with the largest t in {1, 1/2, 1/4, ...} that lowers f enough (Armijo).
/// Differences below rounding count as lower.
VectorXd line_search(const NewtonSolver& solver,
                     const VectorXd& w,
                     double value,
                     const VectorXd& gradient,
                     const VectorXd& step) {
  constexpr double kSufficient = 1e-4;
  constexpr double kRounding = 1e-13;
  constexpr int kHalvings = 60;
  const double slope = gradient.dot(step);
  double t = 1;
  for (int halving = 0; halving < kHalvings; ++halving) {
    VectorXd candidate = w + t * step;
    if (solver.value(candidate) <= value + kSufficient * t * slope + kRounding * std::abs(value)) {
      return candidate;
    }
    t /= 2;
  }
  return w;
}

/// Best is the iterate of the smallest gradient so far.
struct Best {
  VectorXd w;
  VectorXd gradient;
  double value = 0;
  double norm = std::numeric_limits<double>::infinity();
  int steps_without_gain = 0;

  void offer(const VectorXd& candidate, double candidate_value, const VectorXd& its_gradient) {
    if (its_gradient.norm() < norm) {
      *this = {candidate, its_gradient, candidate_value, its_gradient.norm(), 0};
    } else {
      ++steps_without_gain;
    }
  }
};

}  // namespace

double ridge_logistic_value(const LogisticLoss& loss,
                            const RidgeRegulariser& ridge,
                            std::span<const double> w,
                            std::span<double> gradient) {
  const double value = loss.mean(w, gradient);
  if (!gradient.empty()) {
    add_regulariser_gradient(ridge, 1.0, w, gradient);
  }
  return value + regulariser_value(ridge, w);
}

double accepted_gradient_norm(const LogisticLoss& loss) {
  const double mean_row_norm_sq = loss.rows().norm_sq() / static_cast<double>(loss.samples());
  return kWantedGradientNorm * std::max(1.0, std::sqrt(mean_row_norm_sq));
}

std::optional<LogisticMinimum> minimise_ridge_logistic(const LogisticLoss& loss,
                                                       const RidgeRegulariser& ridge) {
  constexpr int kPatience = 3;  // steps at the level of rounding that may pass without a gain
  const double accepted = accepted_gradient_norm(loss);
  NewtonSolver solver(loss, ridge);
  VectorXd w = VectorXd::Zero(static_cast<Index>(loss.dimension()));
  VectorXd gradient;
  Best best;
  for (int iteration = 0; iteration < kNewtonSteps; ++iteration) {
    stop_if_requested();
    const double value = solver.value_and_gradient(w, gradient);
    best.offer(w, value, gradient);
    const bool rounded = best.norm <= accepted && best.steps_without_gain >= kPatience;
    if (best.norm <= kWantedGradientNorm || rounded) {
      break;
    }
    w = line_search(solver, w, value, gradient, solver.step(w, gradient));
  }
  if (!(best.norm <= accepted)) {
    resource_error(
        "f* of the logistic objective was not found: the gradient norm is {} after {} Newton "
        "steps, {} is wanted; a larger l2 or scale = \"max-abs\" helps",
        best.norm,
        kNewtonSteps,
        accepted);
  }
  if (!solver.is_minimum(best.w, best.gradient)) {
    return std::nullopt;
  }
  return LogisticMinimum{
      .point = {best.w.begin(), best.w.end()}, .value = best.value, .gradient_norm = best.norm};
}

}  // namespace residuum
