// SoftmaxLoss is the data part of multi-class logistic regression,
//   (1/n) sum_i [log sum_c exp(z_ic) - z_iy_i],  z_ic = sum_j x_ij w[j C + c],
// for C classes: w has the C weights of a feature side by side, so that a stored entry of a sparse
// row meets C neighbours.

#include <Eigen/Dense>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/elementary.h"
#include "core/notes.h"
#include "core/stop.h"
#include "objectives/conjugate_gradients.h"
#include "objectives/data/synthetic.h"
#include "objectives/facts_cache.h"
#include "objectives/feature_matrix.h"
#include "objectives/mean_loss_objective.h"
#include "objectives/prepared_rows.h"
#include "objectives/registry.h"
#include "objectives/spectrum.h"

namespace residuum {

class SoftmaxLoss {
 public:
  /// Labels are 0 .. classes - 1, one per row.
  SoftmaxLoss(std::unique_ptr<const FeatureMatrix> rows,
              std::vector<std::int32_t> labels,
              std::size_t classes);

  std::size_t samples() const { return labels_.size(); }
  std::size_t classes() const { return classes_; }
  std::size_t dimension() const { return rows_->columns() * classes_; }
  const FeatureMatrix& rows() const { return *rows_; }
  std::span<const std::int32_t> labels() const { return labels_; }
  std::span<const std::uint32_t> all_rows() const { return all_rows_; }

  /// gradient += mean over `batch` of grad f_i(w). The batch must not be empty.
  template <class Real>
  void add_mean_gradient(std::span<const std::uint32_t> batch,
                         std::span<const Real> w,
                         std::span<Real> gradient) const;

  /// Returns (1/n) sum over `shard` of f_i(w) and adds its gradient to `gradient` unless that is
  /// empty.
  double evaluate(std::span<const std::uint32_t> shard,
                  std::span<const double> w,
                  std::span<double> gradient) const;

  /// Returns the probabilities of all samples, C for each.
  std::vector<double> probabilities(std::span<const double> w) const;
  /// product += H v for the Hessian H of this part, where the samples have these probabilities.
  void add_hessian_product(std::span<const double> probabilities,
                           std::span<const double> v,
                           std::span<double> product) const;

  /// Returns an upper bound of L of the mean over `shard`, lambda_max(A^T A) / (2 n): the Hessian
  /// of log sum exp is at most 1/2 (Boehning, Annals of the Institute of Statistical Mathematics
  /// 44, 1992). Every call is expensive.
  double smoothness(std::span<const std::uint32_t> shard) const;

  /// Returns the fraction of samples whose class has the largest z; ties go to the lower class.
  double accuracy(std::span<const double> w) const;

 private:
  std::unique_ptr<const FeatureMatrix> rows_;
  std::vector<std::int32_t> labels_;
  std::size_t classes_;
  std::vector<std::uint32_t> all_rows_;
};

namespace {

/// Calls use(column, value) for the stored entries of a row.
template <class Real, class Use>
void for_entries(const RowsView<Real>& rows, std::size_t row, const Use& use) {
  if (rows.row_begin == nullptr) {
    for (std::size_t j = 0; j < rows.columns; ++j) {
      use(j, rows.value[row * rows.columns + j]);
    }
    return;
  }
  for (std::uint64_t entry = rows.row_begin[row]; entry < rows.row_begin[row + 1]; ++entry) {
    use(std::size_t{rows.column[entry]}, rows.value_of(entry));
  }
}

/// z := the C numbers of a row.
template <class Real>
void logits_of(const RowsView<Real>& rows,
               std::size_t row,
               std::span<const Real> w,
               std::span<Real> z) {
  std::fill(z.begin(), z.end(), Real{0});
  for_entries(rows, row, [&](std::size_t column, Real value) {
    const Real* const weights = w.data() + column * z.size();
    for (std::size_t c = 0; c < z.size(); ++c) {
      z[c] += value * weights[c];
    }
  });
}

/// sum += x_row times the C factors.
template <class Real>
void add_outer(const RowsView<Real>& rows,
               std::size_t row,
               std::span<const Real> factors,
               std::span<Real> sum) {
  for_entries(rows, row, [&](std::size_t column, Real value) {
    Real* const place = sum.data() + column * factors.size();
    for (std::size_t c = 0; c < factors.size(); ++c) {
      place[c] += value * factors[c];
    }
  });
}

/// p := exp(z) / sum exp(z), which may be z itself; returns log sum exp(z). Exponentials are taken
/// of numbers below 0.
template <class Real>
double to_probabilities(std::span<const Real> z, std::span<double> p) {
  const double largest{*std::max_element(z.begin(), z.end())};
  std::transform(z.begin(), z.end(), p.begin(), [&](Real z_c) { return z_c - largest; });
  elementary_kernels().exp(p.data(), p.size());
  double sum = std::accumulate(p.begin(), p.end(), 0.0);
  for (double& p_c : p) {
    p_c /= sum;
  }
  elementary_kernels().log(&sum, 1);
  return largest + sum;
}

/// z := share (p - 1 at the label), which are the derivatives by z.
template <class Real>
void to_factors(std::span<const double> p, std::size_t label, double share, std::span<Real> z) {
  for (std::size_t c = 0; c < p.size(); ++c) {
    z[c] = static_cast<Real>((p[c] - (c == label ? 1 : 0)) * share);
  }
}

}  // namespace

SoftmaxLoss::SoftmaxLoss(std::unique_ptr<const FeatureMatrix> rows,
                         std::vector<std::int32_t> labels,
                         std::size_t classes)
    : rows_(std::move(rows)),
      labels_(std::move(labels)),
      classes_(classes),
      all_rows_(labels_.size()) {
  assert(rows_->rows() == labels_.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0U);
}

template <class Real>
void SoftmaxLoss::add_mean_gradient(std::span<const std::uint32_t> batch,
                                    std::span<const Real> w,
                                    std::span<Real> gradient) const {
  assert(!batch.empty() && w.size() == dimension() && gradient.size() == dimension());
  const auto rows = rows_->view<Real>();
  const double share = 1 / static_cast<double>(batch.size());
  std::vector<Real> z(classes_);
  std::vector<double> p(classes_);
  for (const std::uint32_t i : batch) {
    logits_of<Real>(rows, i, w, z);
    to_probabilities<Real>(z, p);
    to_factors<Real>(p, static_cast<std::size_t>(labels_[i]), share, z);
    add_outer<Real>(rows, i, z, gradient);
  }
}

template void SoftmaxLoss::add_mean_gradient(std::span<const std::uint32_t>,
                                             std::span<const float>,
                                             std::span<float>) const;
template void SoftmaxLoss::add_mean_gradient(std::span<const std::uint32_t>,
                                             std::span<const double>,
                                             std::span<double>) const;

double SoftmaxLoss::evaluate(std::span<const std::uint32_t> shard,
                             std::span<const double> w,
                             std::span<double> gradient) const {
  assert(w.size() == dimension() && (gradient.empty() || gradient.size() == dimension()));
  const auto rows = rows_->view<double>();
  const double share = 1 / static_cast<double>(samples());
  std::vector<double> z(classes_);
  double sum = 0;
  for (const std::uint32_t i : shard) {
    logits_of<double>(rows, i, w, z);
    const auto label = static_cast<std::size_t>(labels_[i]);
    const double own = z[label];
    sum += to_probabilities<double>(z, z) - own;
    if (!gradient.empty()) {
      to_factors<double>(z, label, share, z);
      add_outer<double>(rows, i, z, gradient);
    }
  }
  return sum * share;
}

std::vector<double> SoftmaxLoss::probabilities(std::span<const double> w) const {
  const auto rows = rows_->view<double>();
  std::vector<double> all(samples() * classes_);
  for (std::size_t i = 0; i < samples(); ++i) {
    const std::span<double> z = std::span(all).subspan(i * classes_, classes_);
    logits_of<double>(rows, i, w, z);
    to_probabilities<double>(z, z);
  }
  return all;
}

void SoftmaxLoss::add_hessian_product(std::span<const double> probabilities,
                                      std::span<const double> v,
                                      std::span<double> product) const {
  const auto rows = rows_->view<double>();
  const double share = 1 / static_cast<double>(samples());
  std::vector<double> u(classes_);
  for (std::size_t i = 0; i < samples(); ++i) {
    logits_of<double>(rows, i, v, u);
    const auto p = probabilities.subspan(i * classes_, classes_);
    const double mean = std::inner_product(p.begin(), p.end(), u.begin(), 0.0);
    for (std::size_t c = 0; c < classes_; ++c) {
      u[c] = share * p[c] * (u[c] - mean);
    }
    add_outer<double>(rows, i, u, product);
  }
}

double SoftmaxLoss::smoothness(std::span<const std::uint32_t> shard) const {
  assert(!shard.empty());
  const LargestEigenvalue largest = largest_gram_eigenvalue(*rows_, shard);
  if (largest.is_bound) {
    tell(NoteKind::note,
         fmt::format("many eigenvalues of the Gram matrix of {} rows lie close to the largest; L "
                     "uses an upper bound, at most 0.01 % too large, {}",
                     shard.size(),
                     largest.value));
  }
  return largest.value / (2 * static_cast<double>(shard.size()));
}

double SoftmaxLoss::accuracy(std::span<const double> w) const {
  const auto rows = rows_->view<double>();
  std::vector<double> z(classes_);
  std::size_t right = 0;
  for (std::size_t i = 0; i < samples(); ++i) {
    logits_of<double>(rows, i, w, z);
    const auto best = std::max_element(z.begin(), z.end()) - z.begin();
    right += best == labels_[i] ? 1U : 0U;
  }
  return static_cast<double>(right) / static_cast<double>(samples());
}

// This is multi-class logistic regression with a ridge: f(w) = SoftmaxLoss + (l2/2)|w|^2, for C
// classes and F features in C F coordinates. L <= lambda_max(A^T A)/(2n) + l2, mu = l2 (0 with an
// intercept, which is one more feature without ridge). f* and x* are found by Newton's method,
// whose equations are solved by conjugate gradients, and kept on disk. Without a ridge nothing is
// said of them: weights that are shifted alike in all classes give the same loss.

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
  /// Returns s with (grad^2 f(w)) s = -gradient, nearly.
  Vector step(const Vector& w, const Vector& gradient) const {
    const std::vector<double> probabilities = loss_.probabilities(view_of(w));
    return newton_step(gradient, [&](const Vector& direction) {
      Vector image = ridge_.weight * direction;
      image.tail(image.size() - static_cast<Eigen::Index>(ridge_.penalised)).setZero();
      loss_.add_hessian_product(probabilities, view_of(direction), view_of(image));
      return image;
    });
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
                                     .options = {.labels = LabelKind::many_classes}});
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
