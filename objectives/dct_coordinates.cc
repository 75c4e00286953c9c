#include "objectives/dct_coordinates.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/vectors/block_dct.h"

namespace residuum {
namespace {

/// Tensors of more than two dimensions are matrices with a row for each entry of the first one.
std::vector<BlockDct::Matrix> matrices_of_layers(const Objective& objective) {
  std::vector<BlockDct::Matrix> matrices;
  for (const Layer& layer : objective.layers()) {
    const bool has_rows = layer.shape.size() > 1 && layer.size > 0;
    const std::size_t rows = has_rows ? static_cast<std::size_t>(layer.shape.front()) : 1;
    matrices.push_back({.begin = layer.offset, .rows = rows, .columns = layer.size / rows});
  }
  return matrices;
}

/// Returns room for d numbers, which each thread keeps: objectives are shared between threads, and
/// a training asks for no memory in its steady state. Their values are those of the last use.
template <class Real>
std::span<Real> room_for_parameters(std::size_t d) {
  thread_local std::vector<Real> room;
  room.resize(d);
  return room;
}
template <class Real>
std::span<Real> room_for_gradient(std::size_t d) {
  thread_local std::vector<Real> room;
  room.resize(d);
  return room;
}

class DctCoordinates final : public Objective {
 public:
  explicit DctCoordinates(std::unique_ptr<Objective> inner)
      : inner_(std::move(inner)), dct_(matrices_of_layers(*inner_)) {}

  bool has_function() const override { return inner_->has_function(); }
  std::optional<std::uint64_t> recorded_steps() const override { return inner_->recorded_steps(); }
  std::size_t dimension() const override { return inner_->dimension(); }
  std::vector<Layer> layers() const override { return inner_->layers(); }
  void to_parameters(std::span<const double> w, std::span<double> parameters) const override {
    dct_.inverse(w, parameters);
  }
  void from_parameters(std::span<const double> parameters, std::span<double> w) const override {
    dct_.forward(parameters, w);
  }
  std::vector<double> ready_fractions(std::size_t samples) const override {
    return inner_->ready_fractions(samples);
  }
  std::size_t samples() const override { return inner_->samples(); }
  std::span<const std::int32_t> labels() const override { return inner_->labels(); }
  DataInfo data() const override { return inner_->data(); }

  Facts facts() const override {
    Facts facts = inner_->facts();
    if (!facts.minimizer.empty()) {
      const std::vector<double> parameters = facts.minimizer;
      dct_.forward(parameters, facts.minimizer);
    }
    return facts;
  }
  std::optional<double> shard_smoothness(std::span<const std::uint32_t> shard) const override {
    return inner_->shard_smoothness(shard);
  }
  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> shard) const override {
    return inner_->shard_strong_convexity(shard);
  }

  std::span<const std::uint32_t> evaluated() const override { return inner_->evaluated(); }
  std::size_t statistics() const override { return inner_->statistics(); }
  void initial_statistics(std::span<double> statistics) const override {
    inner_->initial_statistics(statistics);
  }

  void initial_point(std::uint64_t seed, std::span<double> w) const override {
    const auto parameters = room_for_parameters<double>(w.size());
    inner_->initial_point(seed, parameters);
    dct_.forward(parameters, w);
  }

  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    take_gradient(draw, w, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    take_gradient(draw, w, gradient);
  }

  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override {
    const auto parameters = parameters_at(at);
    const auto part = room_for_gradient<double>(gradient.size());
    std::fill(part.begin(), part.end(), 0.0);
    const double loss = inner_->evaluate(worker, workers, shard, {parameters, at.statistics}, part);
    if (!gradient.empty()) {
      dct_.forward(part, parameters);  // which are no longer needed
      std::transform(
          gradient.begin(), gradient.end(), parameters.begin(), gradient.begin(), std::plus<>());
    }
    return loss;
  }

  std::optional<TestResult> test(const Point& at) const override {
    return inner_->test({parameters_at(at), at.statistics});
  }

 private:
  std::span<double> parameters_at(const Point& at) const {
    const auto parameters = room_for_parameters<double>(at.w.size());
    dct_.inverse(at.w, parameters);
    return parameters;
  }

  template <class Real>
  void take_gradient(const Draw& draw, std::span<const Real> w, std::span<Real> gradient) const {
    const auto parameters = room_for_parameters<Real>(w.size());
    const auto of_parameters = room_for_gradient<Real>(w.size());
    dct_.inverse(w, parameters);
    inner_->stochastic_gradient(draw, std::span<const Real>(parameters), of_parameters);
    dct_.forward(std::span<const Real>(of_parameters), gradient);
  }

  std::unique_ptr<Objective> inner_;
  BlockDct dct_;
};

}  // namespace

std::unique_ptr<Objective> in_dct_coordinates(std::unique_ptr<Objective> objective) {
  return std::make_unique<DctCoordinates>(std::move(objective));
}

std::unique_ptr<Objective> in_coordinates(const Section& section,
                                          std::unique_ptr<Objective> objective) {
  const bool in_dct = section.choice("coordinates", {"standard", "dct"}, "standard") == "dct";
  require(
      !in_dct || objective->source() == nullptr,
      "{} must be \"standard\": gradients of a training outside, and its updates, are in its own "
      "coordinates",
      section.where("coordinates"));
  return in_dct ? in_dct_coordinates(std::move(objective)) : std::move(objective);
}

}  // namespace residuum
