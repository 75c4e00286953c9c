#pragma once
// LogisticObjective is f(w) = (1/n) sum_i log(1 + exp(-y_i x_i . w)) + regulariser(w), what the
// logistic objectives share. With an intercept the last coordinate of w is its weight, and no
// regulariser acts on it.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config/section.h"
#include "core/objective.h"
#include "objectives/logistic_loss.h"
#include "objectives/registry.h"
#include "objectives/regulariser.h"

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
class LogisticObjective : public Objective {
 public:
  LogisticObjective(ClassificationData data, double weight)
      : data_(std::move(data)), regulariser_{.weight = weight, .penalised = data_.penalised()} {}

  std::size_t dimension() const override { return data_.train->dimension(); }
  std::size_t samples() const override { return data_.train->samples(); }
  std::span<const std::int32_t> labels() const override { return data_.train->labels(); }
  DataInfo data() const override { return data_.info; }

  std::optional<double> shard_smoothness(std::span<const std::uint32_t> shard) const override {
    return data_.train->smoothness(shard) + regulariser_.smoothness();
  }
  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> /*shard*/) const override {
    const double convexity = regulariser_.strong_convexity(dimension());
    return convexity > 0 ? std::optional(convexity) : std::nullopt;
  }

  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), 0.0);
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    mean_gradient(draw, w, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    mean_gradient(draw, w, gradient);
  }

  double evaluate(int /*worker*/,
                  int /*workers*/,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override {
    const auto w = at.w;
    const double share = static_cast<double>(shard.size()) / static_cast<double>(samples());
    const double loss = data_.train->evaluate(shard, w, gradient);
    if (!gradient.empty()) {
      add_regulariser_gradient(regulariser_, share, w, gradient);
    }
    return loss + share * regulariser_value(regulariser_, w);
  }

  /// Returns loss and accuracy; the loss is the mean over the held-out samples, without the
  /// regulariser.
  std::optional<TestResult> test(const Point& at) const override {
    if (data_.test == nullptr) {
      return std::nullopt;
    }
    return TestResult{.loss = data_.test->mean(at.w, {}), .accuracy = data_.test->accuracy(at.w)};
  }

 protected:
  const ClassificationData& classification_data() const { return data_; }
  const Regulariser& regulariser() const { return regulariser_; }

 private:
  template <class Real>
  void mean_gradient(const Draw& draw, std::span<const Real> w, std::span<Real> gradient) const {
    set_regulariser_gradient(regulariser_, w, gradient);
    data_.train->add_mean_gradient(draw.samples, w, gradient);
  }

  ClassificationData data_;
  Regulariser regulariser_;
};

}  // namespace residuum
