// This is ridge regression: f(w) = (1/(2n)) sum_i (x_i . w - b_i)^2 + (l2/2)|w|^2, whose Hessian is
// H = A^T A / n + l2 everywhere. With intercept = true the last coordinate is the intercept's
// weight, without ridge.
//
// Up to 1000 coordinates L and mu are the extreme eigenvalues of H, and x* is H^-1 A^T b / n by its
// eigenvectors; where H has no inverse x* is the minimiser of the smallest norm. Beyond, L is
// lambda_max(A^T A)/n + l2, mu is l2 (0 with an intercept), and x* is found by conjugate gradients.

#include <Eigen/Dense>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/notes.h"
#include "objectives/conjugate_gradients.h"
#include "objectives/data/synthetic.h"
#include "objectives/feature_matrix.h"
#include "objectives/mean_loss_objective.h"
#include "objectives/prepared_rows.h"
#include "objectives/registry.h"
#include "objectives/spectrum.h"

namespace residuum {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

std::span<const double> numbers_of(const VectorXd& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
std::span<double> numbers_of(VectorXd& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// The data part, (1/(2n)) |A w - b|^2.
class SquaredLoss {
 public:
  SquaredLoss(std::unique_ptr<const FeatureMatrix> rows, std::vector<double> targets)
      : rows_(std::move(rows)), targets_(std::move(targets)), all_rows_(targets_.size()) {
    assert(rows_->rows() == targets_.size());
    std::iota(all_rows_.begin(), all_rows_.end(), 0U);
  }

  std::size_t samples() const { return targets_.size(); }
  std::size_t dimension() const { return rows_->columns(); }
  const FeatureMatrix& rows() const { return *rows_; }
  std::span<const double> targets() const { return targets_; }
  std::span<const std::uint32_t> all_rows() const { return all_rows_; }

  /// gradient += mean over `batch` of grad f_i(w). The batch must not be empty.
  template <class Real>
  void add_mean_gradient(std::span<const std::uint32_t> batch,
                         std::span<const Real> w,
                         std::span<Real> gradient) const {
    const auto rows = rows_->view<Real>();
    const Real share = Real{1} / static_cast<Real>(batch.size());
    rows.for_products(batch, w.data(), [&](auto part, std::span<Real> factors) {
      for (std::size_t at = 0; at < part.size(); ++at) {
        factors[at] = share * (factors[at] - static_cast<Real>(targets_[part[at]]));
      }
      rows.add_rows(part, factors.data(), gradient.data());
    });
  }

  /// Returns (1/n) sum over `shard` of f_i(w) and adds its gradient to `gradient` unless that is
  /// empty.
  double evaluate(std::span<const std::uint32_t> shard,
                  std::span<const double> w,
                  std::span<double> gradient) const {
    const auto rows = rows_->view<double>();
    const double share = 1 / static_cast<double>(samples());
    double sum = 0;
    rows.for_products(shard, w.data(), [&](auto part, std::span<double> factors) {
      for (std::size_t at = 0; at < part.size(); ++at) {
        const double miss = factors[at] - targets_[part[at]];
        sum += 0.5 * miss * miss;
        factors[at] = share * miss;
      }
      if (!gradient.empty()) {
        rows.add_rows(part, factors.data(), gradient.data());
      }
    });
    return sum * share;
  }

  /// Returns L of the mean over `shard` alone; every call is expensive.
  double smoothness(std::span<const std::uint32_t> shard) const {
    assert(!shard.empty());
    const LargestEigenvalue largest = largest_gram_eigenvalue(*rows_, shard);
    if (largest.is_bound) {
      tell(NoteKind::note,
           fmt::format("many eigenvalues of the Gram matrix of {} rows lie close to the largest; L "
                       "uses an upper bound, at most 0.01 % too large, {}",
                       shard.size(),
                       largest.value));
    }
    return largest.value / static_cast<double>(shard.size());
  }

 private:
  std::unique_ptr<const FeatureMatrix> rows_;
  std::vector<double> targets_;
  std::vector<std::uint32_t> all_rows_;
};

/// Finds L, mu, f* and x*.
class LeastSquaresSolver {
 public:
  LeastSquaresSolver(const SquaredLoss& loss, const RidgeRegulariser& ridge)
      : loss_(loss), ridge_(ridge), product_(static_cast<Index>(loss.samples())) {}

  Facts solve() {
    constexpr std::size_t kDense = 1000;
    Facts facts;
    facts.convex = true;
    facts.lower_bound = 0;
    const VectorXd point = loss_.dimension() <= kDense ? solve_dense(facts) : solve_sparse(facts);
    facts.minimum = value_and_gradient(point, nullptr);
    facts.minimizer.assign(point.begin(), point.end());
    return facts;
  }

 private:
  double value_and_gradient(const VectorXd& w, VectorXd* gradient) const {
    std::span<double> numbers;
    if (gradient != nullptr) {
      gradient->setZero(w.size());
      numbers = numbers_of(*gradient);
      add_regulariser_gradient(ridge_, 1.0, numbers_of(w), numbers);
    }
    return loss_.evaluate(loss_.all_rows(), numbers_of(w), numbers) +
           regulariser_value(ridge_, numbers_of(w));
  }

  /// Each step removes the gradient that rounding has left at the point before.
  VectorXd solve_dense(Facts& facts) const {
    constexpr int kRefinements = 4;
    const double share = 1 / static_cast<double>(loss_.samples());
    const std::vector<double> weights(loss_.samples(), share);
    MatrixXd hessian = weighted_gram(loss_.rows(), loss_.all_rows(), weights);
    hessian.diagonal().head(static_cast<Index>(ridge_.penalised)).array() += ridge_.weight;
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(hessian);
    if (solver.info() != Eigen::Success) {
      resource_error("the eigenvalues of the least squares' Hessian were not found");
    }
    const VectorXd& eigenvalues = solver.eigenvalues();
    const double largest = eigenvalues(eigenvalues.size() - 1);
    const double rounding =
        static_cast<double>(eigenvalues.size()) * std::numeric_limits<double>::epsilon() * largest;
    facts.smoothness = largest;
    facts.strong_convexity = eigenvalues(0) > rounding ? eigenvalues(0) : 0.0;
    const VectorXd inverse =
        eigenvalues.unaryExpr([&](double e) { return e > rounding ? 1 / e : 0.0; });
    VectorXd point = VectorXd::Zero(eigenvalues.size());
    VectorXd gradient;
    for (int i = 0; i <= kRefinements; ++i) {
      value_and_gradient(point, &gradient);
      point -= solver.eigenvectors() *
               inverse.cwiseProduct(solver.eigenvectors().transpose() * gradient);
    }
    return point;
  }

  VectorXd hessian_product(const VectorXd& v) {
    loss_.rows().multiply(numbers_of(v), numbers_of(product_));
    product_ /= static_cast<double>(loss_.samples());
    VectorXd result = ridge_.weight * v;
    result.tail(v.size() - static_cast<Index>(ridge_.penalised)).setZero();
    loss_.rows().add_transposed(numbers_of(product_), numbers_of(result));
    return result;
  }

  /// Returns the gradient norm that counts as zero: rounding grows with the terms of a gradient.
  double accepted_norm() const {
    constexpr double kWanted = 1e-12;
    const auto n = static_cast<double>(loss_.samples());
    const double row = std::sqrt(loss_.rows().norm_sq() / n);
    double target_sq = 0;
    for (const double target : loss_.targets()) {
      target_sq += target * target / n;
    }
    return kWanted * std::max(1.0, row * std::max(1.0, std::sqrt(target_sq)));
  }

  /// Begins anew at every point that was reached, so that the residual is a gradient and no
  /// recurrence of one.
  VectorXd solve_sparse(Facts& facts) {
    constexpr int kStarts = 20;
    facts.smoothness = loss_.smoothness(loss_.all_rows()) + ridge_.weight;
    facts.strong_convexity = ridge_.penalised == loss_.dimension() ? ridge_.weight : 0.0;
    const double accepted = accepted_norm();
    VectorXd point = VectorXd::Zero(static_cast<Index>(loss_.dimension()));
    VectorXd gradient;
    for (int start = 0; start < kStarts; ++start) {
      value_and_gradient(point, &gradient);
      if (gradient.norm() <= accepted) {
        return point;
      }
      point += conjugate_gradients(
          -gradient,
          {.residual_sq = (accepted / 2) * (accepted / 2), .steps = gradient.size()},
          [&](const VectorXd& v) { return hessian_product(v); });
    }
    value_and_gradient(point, &gradient);
    if (!(gradient.norm() <= accepted)) {
      resource_error(
          "f* of the least squares was not found: the gradient norm is {}, {} is wanted; a larger "
          "l2 "
          "or scale = \"max-abs\" helps",
          gradient.norm(),
          accepted);
    }
    return point;
  }

  const SquaredLoss& loss_;
  const RidgeRegulariser& ridge_;
  VectorXd product_;
};

struct RegressionData {
  DataInfo info;
  bool intercept = false;
  std::unique_ptr<const SquaredLoss> train;
  std::unique_ptr<const SquaredLoss> test;  // null without held-out data

  std::size_t penalised() const { return train->dimension() - (intercept ? 1U : 0U); }
};

class LeastSquares final : public MeanLossObjective<RegressionData, RidgeRegulariser> {
 public:
  using MeanLossObjective::MeanLossObjective;

  std::span<const std::int32_t> labels() const override { return {}; }

  Facts facts() const override {
    std::call_once(solved_,
                   [this] { facts_ = LeastSquaresSolver(*rows().train, regulariser()).solve(); });
    return facts_;
  }

  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> /*shard*/) const override {
    const double convexity = regulariser().strong_convexity(dimension());
    return convexity > 0 ? std::optional(convexity) : std::nullopt;
  }

  /// Returns half the mean squared error, without the ridge. Nothing is classified, so the accuracy
  /// is NaN.
  std::optional<TestResult> test(const Point& at) const override {
    const auto& test = rows().test;
    if (test == nullptr) {
      return std::nullopt;
    }
    return TestResult{.loss = test->evaluate(test->all_rows(), at.w, {}), .accuracy = std::nan("")};
  }

 private:
  mutable std::once_flag solved_;
  mutable Facts facts_;
};

/// Makes synthetic data; the held-out part has a quarter as many rows.
RowsSplit make_synthetic_regression(const Section& section) {
  RegressionModel model{
      .rows = static_cast<std::size_t>(read_positive(section, "rows", 4000)),
      .features = static_cast<std::size_t>(read_positive(section, "features", 200)),
      .seed = static_cast<std::uint64_t>(read_positive(section, "data_seed", 1))};
  RowsSplit split;
  split.train = make_regression_data(model);
  model.rows = (model.rows + 3) / 4;
  model.part = Part::held_out;
  split.test = make_regression_data(model);
  return split;
}

/// The classes of a synthetic data set of the catalogue are targets -1 and +1.
std::unique_ptr<const SquaredLoss> make_squared_loss(SparseDataset&& data) {
  std::vector<double> targets = std::move(data.targets);
  if (targets.empty()) {
    targets.assign(data.labels.begin(), data.labels.end());
  }
  return std::make_unique<SquaredLoss>(std::make_unique<FeatureMatrix>(std::move(data)),
                                       std::move(targets));
}

}  // namespace

/// Reads the keys l2 ("1/n"), rows (4000), features (200) and data_seed (1) of synthetic data, and
/// those of read_rows.
std::unique_ptr<Objective> make_least_squares(const Section& section,
                                              const ObjectiveContext& context) {
  PreparedRows prepared = read_rows(section,
                                    context,
                                    {.synthetic = "synthetic-regression",
                                     .make = make_synthetic_regression,
                                     .options = {.labels = LabelKind::targets}});
  auto& [train, test] = prepared.rows;
  const bool has_test = test.rows() > 0;
  RegressionData data{.info = std::move(prepared.info),
                      .intercept = prepared.intercept,
                      .train = make_squared_loss(std::move(train)),
                      .test = has_test ? make_squared_loss(std::move(test)) : nullptr};
  const SquaredLoss& loss = *data.train;
  const double l2 =
      read_l2(section, loss.samples(), [&loss] { return loss.smoothness(loss.all_rows()); });
  return std::make_unique<LeastSquares>(std::move(data), l2);
}

}  // namespace residuum
