#pragma once
// The logistic objectives have two regularisers. Both act on the first `penalised` coordinates
// alone; an intercept comes after them.

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include "core/objective.h"

namespace residuum {

/// The ridge is (weight / 2) |w|^2.
struct RidgeRegulariser {
  double weight = 0;
  std::size_t penalised = 0;

  static double value_at(double w) { return 0.5 * w * w; }
  template <class Real>
  static Real slope_at(Real w) {
    return w;
  }
  /// Returns a bound of the second derivative.
  double smoothness() const { return weight; }
  /// Returns a lower bound of the curvature in `dimension` coordinates.
  double strong_convexity(std::size_t dimension) const {
    return penalised == dimension ? weight : 0;
  }
};

/// This regulariser is weight * sum_j w_j^2 / (1 + w_j^2). It is bounded, so it is not convex; its
/// curvature lies between -weight/2 (at w_j = 1) and 2 weight (at 0).
struct BoundedRegulariser {
  double weight = 0;
  std::size_t penalised = 0;

  static double value_at(double w) { return w * w / (1 + w * w); }
  template <class Real>
  static Real slope_at(Real w) {
    const Real scale = 1 / (1 + w * w);
    return 2 * w * scale * scale;
  }
  double smoothness() const { return 2 * weight; }
  static double strong_convexity(std::size_t /*dimension*/) { return 0; }
};

template <class Regulariser>
double regulariser_value(const Regulariser& regulariser, std::span<const double> w) {
  double sum = 0;
  for (const double w_j : w.first(regulariser.penalised)) {
    sum += Regulariser::value_at(w_j);
  }
  return regulariser.weight * sum;
}

/// gradient := grad of the regulariser at w; a stochastic gradient starts from it.
template <class Regulariser, class Real>
void set_regulariser_gradient(const Regulariser& regulariser,
                              std::span<const Real> w,
                              std::span<Real> gradient) {
  const auto weight = static_cast<Real>(regulariser.weight);
  std::size_t j = 0;
  for (; j < regulariser.penalised; ++j) {
    gradient[j] = weight * Regulariser::slope_at(w[j]);
  }
  for (; j < w.size(); ++j) {
    gradient[j] = 0;
  }
}

/// gradient += share * grad of the regulariser at w.
template <class Regulariser>
void add_regulariser_gradient(const Regulariser& regulariser,
                              double share,
                              std::span<const double> w,
                              std::span<double> gradient) {
  for (std::size_t j = 0; j < regulariser.penalised; ++j) {
    gradient[j] += share * regulariser.weight * Regulariser::slope_at(w[j]);
  }
}

// MeanLossObjective is f(w) = (1/n) sum_i loss_i(w) + regulariser(w), what the objectives on rows
// of data share.

/// Data has `info`, the losses `train` and `test`, of which the latter is null without held-out
/// data, and says how many coordinates the regulariser acts on.
template <class Data, class Regulariser>
class MeanLossObjective : public Objective {
 public:
  MeanLossObjective(Data data, double weight)
      : data_(std::move(data)), regulariser_{.weight = weight, .penalised = data_.penalised()} {}

  std::size_t dimension() const override { return data_.train->dimension(); }
  std::size_t samples() const override { return data_.train->samples(); }
  DataInfo data() const override { return data_.info; }

  std::optional<double> shard_smoothness(std::span<const std::uint32_t> shard) const override {
    return data_.train->smoothness(shard) + regulariser_.smoothness();
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
    const double share = static_cast<double>(shard.size()) / static_cast<double>(samples());
    const double loss = data_.train->evaluate(shard, at.w, gradient);
    if (!gradient.empty()) {
      add_regulariser_gradient(regulariser_, share, at.w, gradient);
    }
    return loss + share * regulariser_value(regulariser_, at.w);
  }

 protected:
  const Data& rows() const { return data_; }
  const Regulariser& regulariser() const { return regulariser_; }

 private:
  template <class Real>
  void mean_gradient(const Draw& draw, std::span<const Real> w, std::span<Real> gradient) const {
    set_regulariser_gradient(regulariser_, w, gradient);
    data_.train->add_mean_gradient(draw.samples, w, gradient);
  }

  Data data_;
  Regulariser regulariser_;
};

}  // namespace residuum
