#pragma once
// LogisticLoss is the data part of logistic regression, (1/n) sum_i log(1 + exp(-y_i x_i . w)).
// Margins y_i x_i . w may have any size: the exponential is only taken of -|margin|.

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/feature_matrix.h"
#include "objectives/mean_loss_objective.h"
#include "objectives/registry.h"

namespace residuum {

// The functions below take at most kRowsAtOnce margins.

/// Replaces each margin m by 1 / (1 + exp(m)), which is minus the derivative of the loss.
void to_logistic_weights(std::span<double> margins);

/// values := log(1 + exp(-m)), the loss at each margin, and m := 1 / (1 + exp(m)). As many values
/// as margins.
void to_logistic_values(std::span<double> margins, std::span<double> values);

class LogisticLoss {
 public:
  /// Labels are -1 or +1, one per row.
  LogisticLoss(std::unique_ptr<const FeatureMatrix> rows, std::vector<std::int32_t> labels);

  std::size_t samples() const { return labels_.size(); }
  std::size_t dimension() const { return rows_->columns(); }
  const FeatureMatrix& rows() const { return *rows_; }
  std::span<const std::int32_t> labels() const { return labels_; }
  std::span<const std::uint32_t> all_rows() const { return all_rows_; }  ///< 0, 1, ..., n - 1

  /// gradient += mean over `batch` of grad f_i(w). The batch must not be empty.
  template <class Real>
  void add_mean_gradient(std::span<const std::uint32_t> batch,
                         std::span<const Real> w,
                         std::span<Real> gradient) const {
    assert(!batch.empty() && w.size() == dimension() && gradient.size() == dimension());
    const auto rows = rows_->view<Real>();
    const Real share = Real{1} / static_cast<Real>(batch.size());
    for_margins<Real>(batch, w, [&](auto part, std::span<double> margins) {
      to_logistic_weights(margins);
      add_rows<Real>(rows, part, share, margins, gradient);
    });
  }

  /// Returns (1/n) sum over `shard` of f_i(w) and adds its gradient to `gradient` unless that is
  /// empty.
  double evaluate(std::span<const std::uint32_t> shard,
                  std::span<const double> w,
                  std::span<double> gradient) const;

  /// Does the same over all samples, in their order.
  double mean(std::span<const double> w, std::span<double> gradient) const {
    return evaluate(all_rows_, w, gradient);
  }

  /// Returns L of this part, lambda_max(A^T A) / (4n), a column of ones included. Only the first
  /// call is expensive. If the eigenvalue is not found, a note says that a bound takes its place.
  double smoothness() const;
  /// Returns L of the mean over `shard` alone; every call is expensive.
  double smoothness(std::span<const std::uint32_t> shard) const;

  /// Returns the fraction of samples that are classified correctly by +1 where x_i . w > 0, else
  /// -1.
  double accuracy(std::span<const double> w) const;

 private:
  /// Calls use(part, margins) for one part of the batch after the other, with the margins of its
  /// rows.
  template <class Real, class Use>
  void for_margins(std::span<const std::uint32_t> batch, std::span<const Real> w, Use use) const {
    std::array<double, kRowsAtOnce> memory;  // NOLINT(*-member-init): written before read
    rows_->view<Real>().for_products(batch, w.data(), [&](auto part, std::span<Real> products) {
      const auto margins = std::span(memory).first(part.size());
      for (std::size_t at = 0; at < part.size(); ++at) {
        margins[at] = labels_[part[at]] * static_cast<double>(products[at]);
      }
      use(part, margins);
    });
  }

  /// sum -= share y_i weight_i x_i over the rows of the part.
  template <class Real>
  void add_rows(const RowsView<Real>& rows,
                std::span<const std::uint32_t> part,
                Real share,
                std::span<const double> weights,
                std::span<Real> sum) const {
    std::array<Real, kRowsAtOnce> scales;  // NOLINT(*-member-init): written before read
    for (std::size_t at = 0; at < part.size(); ++at) {
      const auto label = static_cast<Real>(labels_[part[at]]);
      scales[at] = -share * label * static_cast<Real>(weights[at]);
    }
    rows.add_rows(part, scales.data(), sum.data());
  }

  std::unique_ptr<const FeatureMatrix> rows_;
  std::vector<std::int32_t> labels_;
  std::vector<std::uint32_t> all_rows_;
  mutable std::once_flag smoothness_known_;
  mutable double smoothness_ = 0;
};

// LogisticObjective is f(w) = (1/n) sum_i log(1 + exp(-y_i x_i . w)) + regulariser(w), what the
// logistic objectives share. With an intercept the last coordinate of w is its weight, and no
// regulariser acts on it.

/// Two-class data as the section of a logistic objective describes it.
struct ClassificationData {
  DataInfo info;
  std::string train_fingerprint;  // of the data to train on alone, which decide the minimum
  std::string scale;              // "none" or "max-abs"
  bool intercept = false;         // true: the last column of the rows is all ones
  std::unique_ptr<const LogisticLoss> train;
  std::unique_ptr<const LogisticLoss> test;  // null without held-out data

  /// Returns how many coordinates a regulariser acts on: all but the intercept.
  std::size_t penalised() const { return train->dimension() - (intercept ? 1U : 0U); }
};

/// Reads the keys data ("synthetic-logistic"; or a known name, or the path of a LIBSVM file), for
/// synthetic data rows (4000), features (200) and data_seed (1), for files zero_based (false) and
/// classes (two; or "one-vs-rest:LABEL"); intercept (false); scale ("none",
/// or "max-abs": every feature is divided by its largest magnitude in the training data). A feature
/// that occurs in held-out data alone is left out there: its weight would stay 0.
ClassificationData read_classification_data(const Section& section,
                                            const ObjectiveContext& context);

template <class Regulariser>
class LogisticObjective : public MeanLossObjective<ClassificationData, Regulariser> {
 public:
  using MeanLossObjective<ClassificationData, Regulariser>::MeanLossObjective;

  std::span<const std::int32_t> labels() const override { return this->rows().train->labels(); }

  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> /*shard*/) const override {
    const double convexity = this->regulariser().strong_convexity(this->dimension());
    return convexity > 0 ? std::optional(convexity) : std::nullopt;
  }

  /// Returns loss and accuracy; the loss is the mean over the held-out samples, without the
  /// regulariser.
  std::optional<TestResult> test(const Point& at) const override {
    const auto& test = this->rows().test;
    if (test == nullptr) {
      return std::nullopt;
    }
    return TestResult{.loss = test->mean(at.w, {}), .accuracy = test->accuracy(at.w)};
  }
};

}  // namespace residuum
