// This is multi-class logistic regression with a ridge: f(w) = SoftmaxLoss + (l2/2)|w|^2, for C
// classes and F features in C F coordinates. L <= lambda_max(A^T A)/(2n) + l2, mu = l2 (0 with an
// intercept, which is one more feature without ridge). f* and x* are found by Newton's method,
// whose equations are solved by conjugate gradients, and kept on disk. Without a ridge nothing is
// said of them: weights that are shifted alike in all classes give the same loss.

#include <Eigen/Dense>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/notes.h"
#include "core/stop.h"
#include "objectives/data/synthetic.h"
#include "objectives/facts_cache.h"
#include "objectives/mean_loss_objective.h"
#include "objectives/prepared_rows.h"
#include "objectives/registry.h"
#include "objectives/regulariser.h"
#include "objectives/softmax_loss.h"

namespace residuum {
namespace {

using Vector = Eigen::VectorXd;

std::span<const double> view_of(const Vector& v) {
  return {v.data(), static_cast<std::size_t>(v.size())};
}
std::span<double> view_of(Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// Minimises loss + ridge from 0.
class SoftmaxSolver {
  static constexpr double kWanted = 1e-12;  // the gradient norm

 public:
  SoftmaxSolver(const SoftmaxLoss& loss, const RidgeRegulariser& ridge)
      : loss_(loss), ridge_(ridge) {}

  double value(const Vector& w, Vector* gradient) const {
    std::span<double> numbers;
    if (gradient != nullptr) {
      gradient->setZero(w.size());
      numbers = view_of(*gradient);
      add_regulariser_gradient(ridge_, 1.0, view_of(w), numbers);
    }
    return loss_.evaluate(loss_.all_rows(), view_of(w), numbers) +
           regulariser_value(ridge_, view_of(w));
  }

  /// Returns the gradient norm that counts as zero, as for logistic regression.
  double accepted() const {
    const double mean_row_sq = loss_.rows().norm_sq() / static_cast<double>(loss_.samples());
    return kWanted * std::max(1.0, std::sqrt(mean_row_sq));
  }

  /// Goes on to a gradient norm of 1e-12, or as far as rounding allows.
  Vector minimise() const {
    constexpr int kNewtonSteps = 300;
    constexpr int kPatience = 3;  // steps at the level of rounding that may pass without a gain
    Vector w = Vector::Zero(static_cast<Eigen::Index>(loss_.dimension()));
    Vector best = w;
    double best_norm = std::numeric_limits<double>::infinity();
    int steps_without_gain = 0;
    Vector gradient;
    for (int iteration = 0; iteration < kNewtonSteps; ++iteration) {
      stop_if_requested();
      const double at = value(w, &gradient);
      ++steps_without_gain;
      if (gradient.norm() < best_norm) {
        best = w;
        best_norm = gradient.norm();
        steps_without_gain = 0;
      }
      if (best_norm <= kWanted || (best_norm <= accepted() && steps_without_gain >= kPatience)) {
        return best;
      }
      w = descend(w, at, gradient, step(w, gradient));
    }
    if (!(best_norm <= accepted())) {
      resource_error(
          "f* of the softmax regression was not found: the gradient norm is {} after {} Newton "
          "steps, {} is wanted; a larger l2 or scale = \"max-abs\" helps",
          best_norm,
          kNewtonSteps,
          accepted());
    }
    return best;
  }

 private:
  /// Returns s with (grad^2 f(w)) s = -gradient, to a relative residual of 1e-3.
  Vector step(const Vector& w, const Vector& gradient) const {
    constexpr double kRelativeResidual = 1e-3;
    const std::vector<double> probabilities = loss_.probabilities(view_of(w));
    Vector step = Vector::Zero(gradient.size());
    Vector residual = -gradient;
    Vector direction = residual;
    double residual_sq = residual.squaredNorm();
    const double wanted_sq = kRelativeResidual * kRelativeResidual * residual_sq;
    for (Eigen::Index i = 0; i < 10 * gradient.size() && residual_sq > wanted_sq; ++i) {
      stop_if_requested();
      Vector image = ridge_.weight * direction;
      image.tail(image.size() - static_cast<Eigen::Index>(ridge_.penalised)).setZero();
      loss_.add_hessian_product(probabilities, view_of(direction), view_of(image));
      const double curvature = direction.dot(image);
      if (!(curvature > 0)) {
        break;
      }
      const double length = residual_sq / curvature;
      step += length * direction;
      residual -= length * image;
      const double next_sq = residual.squaredNorm();
      direction = residual + (next_sq / residual_sq) * direction;
      residual_sq = next_sq;
    }
    return step;
  }

  /// Returns w + t s with the largest t in {1, 1/2, 1/4, ...} that lowers f enough (Armijo).
  /// Differences below rounding count as lower.
  Vector descend(const Vector& w, double at, const Vector& gradient, const Vector& step) const {
    constexpr double kSufficient = 1e-4;
    constexpr double kRounding = 1e-13;
    constexpr int kHalvings = 60;
    const double slope = gradient.dot(step);
    double t = 1;
    for (int halving = 0; halving < kHalvings; ++halving) {
      Vector candidate = w + t * step;
      if (value(candidate, nullptr) <= at + kSufficient * t * slope + kRounding * std::abs(at)) {
        return candidate;
      }
      t /= 2;
    }
    return w;
  }

  const SoftmaxLoss& loss_;
  const RidgeRegulariser& ridge_;
};

struct SoftmaxData {
  DataInfo info;
  std::string train_fingerprint;
  std::string scale;
  bool intercept = false;
  std::unique_ptr<const SoftmaxLoss> train;
  std::unique_ptr<const SoftmaxLoss> test;  // null without held-out data

  std::size_t penalised() const { return train->dimension() - (intercept ? train->classes() : 0); }
};

class Softmax final : public MeanLossObjective<SoftmaxData, RidgeRegulariser> {
 public:
  Softmax(SoftmaxData data, double l2, std::filesystem::path cache_dir)
      : MeanLossObjective(std::move(data), l2), cache_dir_(std::move(cache_dir)) {}

  std::vector<Layer> layers() const override {
    const std::size_t classes = rows().train->classes();
    return {{.name = "w",
             .shape = {static_cast<std::int64_t>(dimension() / classes),
                       static_cast<std::int64_t>(classes)},
             .offset = 0,
             .size = dimension()}};
  }
  std::span<const std::int32_t> labels() const override { return rows().train->labels(); }

  Facts facts() const override {
    std::call_once(solved_, [this] { facts_ = solve(); });
    return facts_;
  }

  /// Returns loss and accuracy; the loss is the mean over the held-out samples, without the ridge.
  std::optional<TestResult> test(const Point& at) const override {
    const auto& test = rows().test;
    if (test == nullptr) {
      return std::nullopt;
    }
    return TestResult{.loss = test->evaluate(test->all_rows(), at.w, {}),
                      .accuracy = test->accuracy(at.w)};
  }

 private:
  Facts solve() const {
    Facts facts;
    facts.smoothness = rows().train->smoothness(rows().train->all_rows()) + regulariser().weight;
    facts.strong_convexity = rows().intercept ? 0.0 : regulariser().weight;
    facts.convex = true;
    facts.lower_bound = 0;
    if (regulariser().weight > 0) {
      const Vector point = find_minimum();
      facts.minimum = SoftmaxSolver(*rows().train, regulariser()).value(point, nullptr);
      facts.minimizer.assign(point.begin(), point.end());
    }
    return facts;
  }

  Vector find_minimum() const {
    const FactsKey key{.fingerprint = rows().train_fingerprint,
                       .l2 = regulariser().weight,
                       .intercept = rows().intercept,
                       .scale = "softmax, " + rows().scale};
    const SoftmaxSolver solver(*rows().train, regulariser());
    Vector gradient;
    if (const auto stored = load_minimizer(cache_dir_, key, dimension())) {
      Vector point =
          Eigen::Map<const Vector>(stored->data(), static_cast<Eigen::Index>(stored->size()));
      solver.value(point, &gradient);
      if (gradient.norm() <= solver.accepted()) {
        return point;
      }
    }
    Vector point = solver.minimise();
    solver.value(point, &gradient);
    store_minimizer(cache_dir_, key, {point.begin(), point.end()}, gradient.norm());
    return point;
  }

  std::filesystem::path cache_dir_;
  mutable std::once_flag solved_;
  mutable Facts facts_;
};

/// Makes synthetic data of ten classes; the held-out part has a quarter as many rows.
RowsSplit make_synthetic_classes(const Section& section) {
  ClassesModel model{.rows = static_cast<std::size_t>(read_positive(section, "rows", 4000)),
                     .features = static_cast<std::size_t>(read_positive(section, "features", 200)),
                     .classes = 10,
                     .seed = static_cast<std::uint64_t>(read_positive(section, "data_seed", 1))};
  RowsSplit split;
  split.train = make_class_data(model);
  model.rows = (model.rows + 3) / 4;
  model.part = Part::held_out;
  split.test = make_class_data(model);
  return split;
}

/// The classes -1 and +1 of a synthetic data set of the catalogue are 0 and 1.
std::unique_ptr<const SoftmaxLoss> make_softmax_loss(SparseDataset&& data) {
  std::vector<std::int32_t> labels = data.labels;
  const std::size_t classes = std::max<std::size_t>(2, data.class_labels.size());
  if (data.class_labels.empty()) {
    std::replace(labels.begin(), labels.end(), -1, 0);
  }
  return std::make_unique<SoftmaxLoss>(
      std::make_unique<FeatureMatrix>(std::move(data)), std::move(labels), classes);
}

}  // namespace

/// Reads the keys l2 ("1/n"), rows (4000), features (200) and data_seed (1) of synthetic data, and
/// those of read_rows.
std::unique_ptr<Objective> make_softmax(const Section& section, const ObjectiveContext& context) {
  PreparedRows prepared = read_rows(section,
                                    context,
                                    {.synthetic = "synthetic-classes",
                                     .make = make_synthetic_classes,
                                     .wishes = {.labels = LabelKind::many_classes}});
  auto& [train, test] = prepared.rows;
  const bool has_test = test.rows() > 0;
  const std::size_t classes = std::max<std::size_t>(2, train.class_labels.size());
  require(
      train.features * classes <= std::numeric_limits<std::uint32_t>::max(),
      "softmax regression of {} features and {} classes has {} parameters, at most 2^32 - 1 can "
      "be numbered",
      train.features,
      classes,
      train.features * classes);
  SoftmaxData data{.info = std::move(prepared.info),
                   .train_fingerprint = std::move(prepared.train_fingerprint),
                   .scale = std::move(prepared.scale),
                   .intercept = prepared.intercept,
                   .train = make_softmax_loss(std::move(train)),
                   .test = has_test ? make_softmax_loss(std::move(test)) : nullptr};
  const SoftmaxLoss& loss = *data.train;
  const double l2 =
      read_l2(section, loss.samples(), [&loss] { return loss.smoothness(loss.all_rows()); });
  return std::make_unique<Softmax>(std::move(data), l2, context.cache_dir);
}

}  // namespace residuum
