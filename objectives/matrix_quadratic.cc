// The matrix quadratic is f(w) = mean of f_p(w) over P workers, f_p(w) = (1/2)(w - m_p)^T A_p (w -
// m_p), with symmetric positive definite A_p and minimisers m_p that the study gives, one for all
// workers or one for each. Gradients are full. L, mu, f* and x* are those of the mean, by
// eigenvalues; the workers' L and mu are the largest and the smallest of all A_p.

#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "objectives/registry.h"

namespace residuum {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

struct MatrixQuadraticSettings {
  std::vector<MatrixXd> matrices;    // one, or one per worker
  std::vector<VectorXd> minimizers;  // one, or one for each worker
  VectorXd start;                    // w_0
};

/// The smallest and the largest eigenvalue of a symmetric matrix.
struct EigenRange {
  double smallest = 0;
  double largest = 0;
};

EigenRange eigen_range(const MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix, Eigen::EigenvaluesOnly);
  return {.smallest = solver.eigenvalues().minCoeff(), .largest = solver.eigenvalues().maxCoeff()};
}

template <class Any>
const Any& of_worker(const std::vector<Any>& all, int worker) {
  return all.size() == 1 ? all.front() : all.at(static_cast<std::size_t>(worker));
}

class MatrixQuadratic final : public Objective {
 public:
  explicit MatrixQuadratic(MatrixQuadraticSettings settings) : settings_(std::move(settings)) {
    workers_ = std::max(settings_.matrices.size(), settings_.minimizers.size());
    range_ = eigen_range(settings_.matrices.front());
    for (const auto& matrix : settings_.matrices) {
      const EigenRange own = eigen_range(matrix);
      range_.smallest = std::min(range_.smallest, own.smallest);
      range_.largest = std::max(range_.largest, own.largest);
    }
  }

  std::size_t dimension() const override {
    return static_cast<std::size_t>(settings_.start.size());
  }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override {
    return {.name = "none",
            .samples = 0,
            .features = dimension(),
            .fingerprint = "",
            .note = "matrices of the study"};
  }

  Facts facts() const override {
    const auto d = settings_.start.size();
    MatrixXd mean = MatrixXd::Zero(d, d);
    VectorXd linear = VectorXd::Zero(d);
    const double share = 1 / static_cast<double>(workers_);
    for (int p = 0; p < static_cast<int>(workers_); ++p) {
      const MatrixXd& matrix = of_worker(settings_.matrices, p);
      mean += share * matrix;
      linear += share * matrix * of_worker(settings_.minimizers, p);
    }
    const VectorXd minimizer =
        shares_minimizer() ? settings_.minimizers.front() : VectorXd(mean.ldlt().solve(linear));
    double minimum = 0;
    for (int p = 0; p < static_cast<int>(workers_); ++p) {
      minimum += share * value_at(p, minimizer);
    }
    const EigenRange range = eigen_range(mean);
    return {.smoothness = range.largest,
            .strong_convexity = range.smallest,
            .minimum = minimum,
            .noise_variance = 0,
            .minimizer = {minimizer.begin(), minimizer.end()},
            .convex = true,
            .workers_are_alike = settings_.matrices.size() == 1 && shares_minimizer(),
            .shares_minimizer = shares_minimizer()};
  }

  std::optional<double> shard_smoothness(std::span<const std::uint32_t> /*shard*/) const override {
    return range_.largest;
  }
  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> /*shard*/) const override {
    return range_.smallest;
  }

  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::copy(settings_.start.begin(), settings_.start.end(), w.begin());
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    full_gradient(draw.worker, w, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    full_gradient(draw.worker, w, gradient);
  }

  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& at,
                  std::span<double> gradient) const override {
    const double share = 1 / static_cast<double>(workers);
    const VectorXd w = Eigen::Map<const VectorXd>(at.w.data(), settings_.start.size());
    if (!gradient.empty()) {
      const VectorXd slope = slope_at(worker, w);
      for (std::size_t j = 0; j < gradient.size(); ++j) {
        gradient[j] += share * slope(static_cast<Eigen::Index>(j));
      }
    }
    return share * value_at(worker, w);
  }

  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

 private:
  VectorXd slope_at(int worker, const VectorXd& w) const {
    return of_worker(settings_.matrices, worker) * (w - of_worker(settings_.minimizers, worker));
  }
  double value_at(int worker, const VectorXd& w) const {
    return 0.5 * (w - of_worker(settings_.minimizers, worker)).dot(slope_at(worker, w));
  }
  bool shares_minimizer() const {
    return std::all_of(settings_.minimizers.begin(),
                       settings_.minimizers.end(),
                       [&](const VectorXd& one) { return one == settings_.minimizers.front(); });
  }

  template <class Real>
  void full_gradient(int worker, std::span<const Real> w, std::span<Real> gradient) const {
    const VectorXd wide =
        Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, 1>>(w.data(), settings_.start.size())
            .template cast<double>();
    const VectorXd slope = slope_at(worker, wide);
    for (std::size_t j = 0; j < gradient.size(); ++j) {
      gradient[j] = static_cast<Real>(slope(static_cast<Eigen::Index>(j)));
    }
  }

  MatrixQuadraticSettings settings_;
  std::size_t workers_ = 1;  // that differ
  EigenRange range_;         // over all A_p
};

using Json = nlohmann::json;

VectorXd vector_of(const Json& list, Eigen::Index length, const std::string& where) {
  require(list.is_array() && (length == 0 || list.size() == static_cast<std::size_t>(length)),
          "{} must be lists of {} numbers, as many as the matrix has rows; got {}",
          where,
          length,
          shown(list));
  VectorXd vector(static_cast<Eigen::Index>(list.size()));
  for (std::size_t j = 0; j < list.size(); ++j) {
    require(list[j].is_number() && std::isfinite(list[j].get<double>()),
            "{} must be lists of finite numbers; got {}",
            where,
            shown(list));
    vector(static_cast<Eigen::Index>(j)) = list[j].get<double>();
  }
  return vector;
}

MatrixXd matrix_of(const Json& rows, const std::string& where) {
  const auto d = static_cast<Eigen::Index>(rows.size());
  MatrixXd matrix(d, d);
  for (Eigen::Index row = 0; row < d; ++row) {
    matrix.row(row) = vector_of(rows[static_cast<std::size_t>(row)], d, where).transpose();
  }
  constexpr double kRounding = 1e-12;
  const double asymmetry = (matrix - matrix.transpose()).cwiseAbs().maxCoeff();
  require(asymmetry <= kRounding * matrix.cwiseAbs().maxCoeff(), "{} must be symmetric", where);
  matrix = (0.5 * (matrix + matrix.transpose())).eval();
  require(eigen_range(matrix).smallest > 0, "{} must be positive definite", where);
  return matrix;
}

/// True for a list of lists of lists: a matrix for each worker.
bool has_depth(const Json& value, int depth) {
  return depth == 0 || (value.is_array() && !value.empty() && has_depth(value.front(), depth - 1));
}

}  // namespace

/// Reads the keys matrix, d rows of d numbers, or P such matrices; minimizers, d numbers or P times
/// d (1 everywhere); start, d numbers (0).
std::unique_ptr<Objective> make_matrix_quadratic(const Section& section,
                                                 const ObjectiveContext& context) {
  MatrixQuadraticSettings settings;
  const std::string where = section.where("matrix");
  const Json given = section.any("matrix");
  require(
      has_depth(given, 2), "{} must be d rows of d numbers, or one such list per worker", where);
  const Json matrices = has_depth(given, 3) ? given : Json::array({given});
  for (const auto& rows : matrices) {
    settings.matrices.push_back(matrix_of(rows, where));
    require(settings.matrices.back().rows() == settings.matrices.front().rows(),
            "{}: the matrices must have the same size",
            where);
  }
  const Eigen::Index d = settings.matrices.front().rows();
  const std::vector<double> ones(static_cast<std::size_t>(d), 1.0);
  const Json minimizers = section.any("minimizers", Json(ones));
  const Json of_each = has_depth(minimizers, 2) ? minimizers : Json::array({minimizers});
  for (const auto& minimizer : of_each) {
    settings.minimizers.push_back(vector_of(minimizer, d, section.where("minimizers")));
  }
  const Json start = section.any("start", "zero");
  settings.start = start == "zero" ? Eigen::VectorXd(Eigen::VectorXd::Zero(d))
                                   : vector_of(start, d, section.where("start"));
  for (const auto& [key, count] : {std::pair{"matrix", settings.matrices.size()},
                                   std::pair{"minimizers", settings.minimizers.size()}}) {
    require(count == 1 || count == static_cast<std::size_t>(context.workers.get()),
            "{} has {} entries, but must have one, or one per worker ({})",
            section.where(key),
            count,
            context.workers.get());
  }
  return std::make_unique<MatrixQuadratic>(std::move(settings));
}

}  // namespace residuum
