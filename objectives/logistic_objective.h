#pragma once
// LogisticObjective is f(w) = (1/n) sum_i log(1 + exp(-y_i x_i . w)) + regulariser(w), what the
// logistic objectives share. With an intercept the last coordinate of w is its weight, and no
// regulariser acts on it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/logistic_loss.h"
#include "objectives/mean_loss_objective.h"
#include "objectives/registry.h"

namespace residuum {

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
