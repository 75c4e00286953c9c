#include <algorithm>
#include <optional>

#include "assumptions/monitor.h"
#include "assumptions/one_step.h"
#include "assumptions/testing/laws.h"
#include "core/random/random.h"

namespace residuum::laws {
namespace {

/// Worker p's gradient is h (w - c^p) + noise with a centre c^p of its own, so that nobody's
/// residual vanishes.
class NoisyBowl final : public Objective {
 public:
  explicit NoisyBowl(std::size_t dimension) : dimension_(dimension) {}

  std::size_t dimension() const override { return dimension_; }
  std::size_t samples() const override { return 0; }
  std::span<const std::int32_t> labels() const override { return {}; }
  DataInfo data() const override { return {}; }
  Facts facts() const override { return {}; }
  void initial_point(std::uint64_t /*seed*/, std::span<double> w) const override {
    std::fill(w.begin(), w.end(), 1);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    fill(draw, w, gradient);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    fill(draw, w, gradient);
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
  template <class Real>
  static void fill(const Draw& draw, std::span<const Real> w, std::span<Real> gradient) {
    const auto worker = static_cast<std::uint32_t>(draw.worker);
    RandomStream centre(draw.seed, Purpose::synthetic, worker, 0);
    RandomStream noise(
        draw.seed, Purpose::noise, worker, static_cast<std::uint32_t>(draw.iteration));
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double slope = 1.0 / static_cast<double>(i + 1);
      gradient[i] =
          static_cast<Real>(slope * (static_cast<double>(w[i]) - centre.normal()) + noise.normal());
    }
  }

  std::size_t dimension_;
};

/// Keeps the first check that does not hold.
class FaultKeeper final : public Recorder {
 public:
  void write(const Row& /*row*/, const std::vector<Check>& checks) override {
    for (const auto& check : checks) {
      if (!check.holds && !fault_) {
        fault_ = check;
      }
    }
  }
  const std::optional<Check>& fault() const { return fault_; }

 private:
  std::optional<Check> fault_;
};

std::optional<Finding> mass_fault(const Method& method,
                                  std::size_t dimension,
                                  int workers,
                                  Precision precision) {
  constexpr std::uint64_t kIterations = 8;
  const auto world = make_single_process();
  const Cluster cluster(*world, workers);
  const NoisyBowl objective(dimension);
  Training training;
  training.objective = &objective;
  training.method = &method;
  training.cluster = &cluster;
  training.iterations = kIterations;
  training.precision = precision;
  training.plan.measured = Cadence(1, "every", kIterations);
  FaultKeeper keeper;
  Monitor monitor(make_probes({"conservation"}, "a law"), keeper, [](auto /*done*/, auto /*n*/) {});
  const Outcome outcome = train(training, monitor);
  const std::string place =
      fmt::format("P = {} in {}", workers, precision == Precision::float64 ? "float64" : "float32");
  if (const auto& fault = keeper.fault()) {
    return Finding{
        false,
        fmt::format("{}, iteration {}: {} is {:.6g}, allowed is {:.6g}",
                    place,
                    fault->iteration,
                    fault->name == "lost-mass" ? "|sum a - sum e - g|^2" : "|(w - z) - mean e|",
                    fault->lhs,
                    fault->rhs)};
  }
  if (outcome.state != Outcome::State::finished) {
    return Finding{false, fmt::format("{}: {}", place, outcome.message)};
  }
  return std::nullopt;
}

StepQuantities step_on(const Vectors& accumulators,
                       const std::string& aggregator,
                       std::int64_t k,
                       const std::string& put_back) {
  require(!accumulators.empty() && !accumulators.front().empty(),
          "at least one accumulator of one entry is needed");
  std::vector<double> flat;
  for (const auto& row : accumulators) {
    require(row.size() == accumulators.front().size(),
            "accumulators of {} and {} entries cannot be aggregated",
            accumulators.front().size(),
            row.size());
    flat.insert(flat.end(), row.begin(), row.end());
  }
  const Method method = one_step_method(
      {"sparsifier", nlohmann::json{{"kind", "top-k"}, {"k", k}}}, aggregator, put_back);
  return OneStep(method, static_cast<int>(accumulators.size()), accumulators.front().size())
      .on(flat);
}

}  // namespace

Finding conserves_mass(const Method& method, std::size_t dimension) {
  constexpr int kMostWorkers = 9;
  for (int workers = 1; workers <= kMostWorkers; ++workers) {
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      if (const auto fault = mass_fault(method, dimension, workers, precision)) {
        return *fault;
      }
    }
  }
  return {true, fmt::format("nothing was lost with 1 to {} workers", kMostWorkers)};
}

Method method_of(const MethodSections& sections) {
  const Section selection("sparsifier", sections.sparsifier);
  const Section exchange("aggregator", sections.aggregator);
  const Section memory("feedback", sections.feedback);
  const Section values("quantiser", sections.quantiser);
  const Section step("step", nlohmann::json{{"rule", "constant"}, {"value", 0.1}});
  Method method;
  method.sparsifier = make_sparsifier(selection);
  method.aggregator = make_aggregator(exchange);
  method.feedback = make_feedback(memory);
  method.quantiser = make_quantiser(values);
  check_quantiser(method, sections.aggregator.value("kind", ""), values.where("kind"));
  method.step_rule = make_step_rule(step, {});
  selection.finish();
  exchange.finish();
  memory.finish();
  values.finish();
  return method;
}

Finding satisfies_gtopk_assumption(const Vectors& accumulators,
                                   const std::string& aggregator,
                                   std::int64_t k) {
  const StepQuantities step = step_on(accumulators, aggregator, k, "captured");
  const auto delta = step.get(Column::delta);
  if (!delta) {
    return {false, "delta is not defined: the mean accumulator is zero, or k is its dimension"};
  }
  return {*delta <= 1,
          fmt::format("delta = {:.7g}: {:.7g} on the selected indices, {:.7g} off them",
                      *delta,
                      step.get(Column::delta_in).value_or(0),
                      step.get(Column::delta_out).value_or(0))};
}

Finding has_no_lost_mass(const Vectors& accumulators,
                         const std::string& aggregator,
                         std::int64_t k,
                         const std::string& put_back) {
  const StepQuantities step = step_on(accumulators, aggregator, k, put_back);
  const auto lost = step.get(Column::lost_mass_norm_sq);
  if (!lost) {
    return {false, "nothing could be measured: an accumulator is not finite"};
  }
  return {*lost == 0, fmt::format("|sum a - sum e - g|^2 = {:.7g}", *lost)};
}

}  // namespace residuum::laws
