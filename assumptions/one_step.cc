#include "assumptions/one_step.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "assumptions/monitor.h"

namespace residuum {
namespace {

/// Keeps the one row, and those parts of the view that are no column.
class Keeper final : public Recorder, public StepObserver {
 public:
  /// Residuals are kept of `accumulators`, unless these are empty.
  Keeper(const std::vector<std::string>& probes,
         std::span<const double> accumulators,
         StepQuantities& quantities)
      : accumulators_(accumulators),
        quantities_(quantities),
        monitor_(make_probes(probes, "one step"), *this, [](std::uint64_t, std::uint64_t) {}) {}

  void observe(const StepView& view) override {
    quantities_.k = view.selection.k;
    quantities_.mean_residual.assign(view.mean.residual.begin(), view.mean.residual.end());
    if (view.exchange.is_dense) {
      to_sparse(view.exchange.dense_update, quantities_.update);
    } else {
      quantities_.update = *view.exchange.update;
    }
    keep_residuals(view.exchange, view.dimension());
    monitor_.observe(view);
  }
  void write(const Row& measured, const std::vector<Check>& /*checks*/) override {
    quantities_.row = measured;
  }

 private:
  void keep_residuals(const ExchangeView& exchange, std::size_t dimension) {
    auto& residuals = quantities_.residuals;
    residuals.assign(accumulators_.begin(), accumulators_.end());
    if (exchange.removed_is_dense) {
      std::fill(residuals.begin(), residuals.end(), 0);
      return;
    }
    for (std::size_t p = 0; p * dimension < residuals.size(); ++p) {
      const auto of_worker = std::span(residuals).subspan(p * dimension, dimension);
      for (std::size_t i = 0; i < exchange.removed[p].size(); ++i) {
        of_worker[exchange.removed[p].indices[i]] -= exchange.removed[p].values[i];
      }
      for (std::size_t i = 0; i < exchange.returned[p].size(); ++i) {
        of_worker[exchange.returned[p].indices[i]] += exchange.returned[p].values[i];
      }
    }
  }

  std::span<const double> accumulators_;
  StepQuantities& quantities_;
  Monitor monitor_;
};

}  // namespace

/// Worker p's gradient is its vector, wherever the model is.
class OneStep::GivenVectors final : public Objective {
 public:
  GivenVectors(std::size_t dimension, std::size_t rows) : dimension_(dimension), rows_(rows) {}

  void bring(std::span<const double> vectors) { vectors_ = vectors; }

  std::size_t dimension() const override { return dimension_; }
  std::vector<Layer> layers() const override {
    if (rows_ == 1) {
      return Objective::layers();
    }
    return {
        {.name = "matrix",
         .shape = {static_cast<std::int64_t>(rows_), static_cast<std::int64_t>(dimension_ / rows_)},
         .offset = 0,
         .size = dimension_}};
  }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), 0);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> /*w*/,
                           std::span<float> gradient) const override {
    const auto mine = vector_of(draw.worker);
    std::transform(
        mine.begin(), mine.end(), gradient.begin(), [](double x) { return static_cast<float>(x); });
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> /*w*/,
                           std::span<double> gradient) const override {
    const auto mine = vector_of(draw.worker);
    std::copy(mine.begin(), mine.end(), gradient.begin());
  }
  double evaluate(int /*worker*/,
                  int /*workers*/,
                  std::span<const std::uint32_t> /*shard*/,
                  const Point& /*at*/,
                  std::span<double> /*gradient*/) const override {
    return 0;
  }
  std::optional<TestResult> test(const Point& /*at*/) const override { return std::nullopt; }

 private:
  std::span<const double> vector_of(int worker) const {
    return vectors_.subspan(static_cast<std::size_t>(worker) * dimension_, dimension_);
  }

  std::size_t dimension_;
  std::size_t rows_;
  std::span<const double> vectors_;
};

Method one_step_method(const Section& sparsifier,
                       const Section& aggregator,
                       const std::string& put_back,
                       const Section& quantiser) {
  Method method;
  method.sparsifier = make_sparsifier(sparsifier);
  method.aggregator = make_aggregator(aggregator);
  method.feedback =
      make_feedback(Section("feedback", nlohmann::json{{"kind", "ef14"}, {"putback", put_back}}));
  method.step_rule =
      make_step_rule(Section("step", nlohmann::json{{"rule", "constant"}, {"value", 1.0}}), {});
  method.quantiser = make_quantiser(quantiser);
  quantiser.finish();
  check_quantiser(method, aggregator.text("kind"), quantiser.where("kind"));
  return method;
}

Method one_step_method(const Section& sparsifier,
                       const std::string& aggregator,
                       const std::string& put_back) {
  return one_step_method(
      sparsifier, Section("aggregator", nlohmann::json{{"kind", aggregator}}), put_back);
}

OneStep::OneStep(const Method& method,
                 int workers,
                 std::size_t dimension,
                 std::vector<std::string> probes,
                 std::size_t rows)
    : probes_(std::move(probes)),
      world_(make_single_process()),
      cluster_(*world_, workers),
      objective_(std::make_unique<GivenVectors>(dimension, rows)) {
  training_.objective = objective_.get();
  training_.method = &method;
  training_.cluster = &cluster_;
  training_.iterations = 1;
  training_.plan.measured = Cadence(1, "every", 1);
}

OneStep::~OneStep() = default;

const StepQuantities& OneStep::on(std::span<const double> accumulators, Precision precision) {
  assert(accumulators.size() ==
         static_cast<std::size_t>(cluster_.workers()) * objective_->dimension());
  objective_->bring(accumulators);
  training_.precision = precision;
  quantities_.row = Row();  // a step that ends early must not show the row before it
  Keeper keeper(probes_, keeps_residuals_ ? accumulators : std::span<const double>(), quantities_);
  train(training_, keeper);
  return quantities_;
}

}  // namespace residuum
