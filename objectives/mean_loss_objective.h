#pragma once
// MeanLossObjective is f(w) = (1/n) sum_i loss_i(w) + regulariser(w), what the objectives on rows
// of data share.

#include <algorithm>
#include <utility>

#include "core/objective.h"
#include "objectives/regulariser.h"

namespace residuum {

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
