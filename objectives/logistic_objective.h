#pragma once
// LogisticObjective is f(w) = (1/n) sum_i log(1 + exp(-y_i x_i . w)) + regulariser(w), what the
// logistic objectives share. With an intercept the last coordinate of w is its weight, and no
// regulariser acts on it.

#include "objectives/classification_data.h"
#include "objectives/mean_loss_objective.h"

namespace residuum {

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
