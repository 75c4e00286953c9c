// residuum inspect: one aggregation step on vectors that the user brings. The very code of a
// training runs for one iteration from e = 0 with step 1, on an objective whose stochastic
// gradients are the given accumulators.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "assumptions/iid_prediction.h"
#include "assumptions/monitor.h"
#include "core/vectors/dense.h"
#include "experiments/commands.h"
#include "experiments/vectors_file.h"
#include "reports/result_folder.h"

namespace residuum {
namespace {

using Vectors = std::vector<std::vector<double>>;

/// Worker p's gradient is row p, wherever the model is.
class GivenVectors final : public Objective {
 public:
  explicit GivenVectors(Vectors vectors) : vectors_(std::move(vectors)) {}

  std::size_t dimension() const override { return vectors_.front().size(); }
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
    const auto& row = vectors_[static_cast<std::size_t>(draw.worker)];
    std::transform(
        row.begin(), row.end(), gradient.begin(), [](double x) { return static_cast<float>(x); });
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> /*w*/,
                           std::span<double> gradient) const override {
    const auto& row = vectors_[static_cast<std::size_t>(draw.worker)];
    std::copy(row.begin(), row.end(), gradient.begin());
  }
  double evaluate(int /*worker*/,
                  int /*workers*/,
                  std::span<const std::uint32_t> /*shard*/,
                  std::span<const double> /*w*/,
                  std::span<double> /*gradient*/) const override {
    return 0;
  }
  std::optional<TestResult> test(std::span<const double> /*w*/) const override {
    return std::nullopt;
  }

 private:
  Vectors vectors_;
};

/// Keeps the one row, and of the view what is no column.
class OneStep final : public Recorder, public StepObserver {
 public:
  OneStep()
      : monitor_(
            make_probes({"delta", "contraction", "residual", "conservation", "xi", "traffic"}, ""),
            *this,
            [](std::uint64_t, std::uint64_t) {}) {}

  void observe(const StepView& view) override {
    k_ = view.k;
    if (view.update_is_dense) {
      to_sparse(view.dense_update, update_);
    } else {
      update_ = *view.update;
    }
    monitor_.observe(view);
  }
  void progress(std::uint64_t /*done*/, std::uint64_t /*total*/) override {}
  void write(const Row& measured, const std::vector<Check>& /*checks*/) override {
    row_ = measured;
  }

  Row& row() { return row_; }
  const Row& row() const { return row_; }
  double k() const { return k_; }
  const SparseVector<double>& update() const { return update_; }

 private:
  Row row_;
  double k_ = 0;
  SparseVector<double> update_;
  Monitor monitor_;
};

Section sparsifier_section(const Options& options) {
  const int given = (options.k ? 1 : 0) + (options.density ? 1 : 0) + (options.threshold ? 1 : 0);
  require(given == 1, "give one of --k, --density and --threshold");
  nlohmann::json values;
  if (options.threshold) {
    values = {{"kind", "hard-threshold"}, {"threshold", *options.threshold}};
  } else if (options.k) {
    values = {{"kind", "top-k"}, {"k", *options.k}};
  } else {
    values = {{"kind", "top-k"}, {"density", *options.density}};
  }
  return {"sparsifier", values};
}

Method make_method(const Options& options) {
  Method method;
  method.sparsifier = make_sparsifier(sparsifier_section(options));
  method.aggregator =
      make_aggregator(Section("aggregator", nlohmann::json{{"kind", options.aggregator}}));
  method.feedback = make_feedback(
      Section("feedback", nlohmann::json{{"kind", "ef14"}, {"putback", options.put_back}}));
  method.step_rule =
      make_step_rule(Section("step", nlohmann::json{{"rule", "constant"}, {"value", 1.0}}), {});
  require(!options.threshold || !method.aggregator->needs_k(),
          "aggregator '{}' selects k entries: it goes with --k or --density, not --threshold",
          options.aggregator);
  return method;
}

/// |mean of the rows|.
double mean_norm(const Vectors& vectors) {
  std::vector<double> mean(vectors.front().size());
  for (const auto& row : vectors) {
    add_to<double>(mean, row);
  }
  return std::sqrt(norm_sq<double>(mean)) / static_cast<double>(vectors.size());
}

reports::Json column(const Row& row, Column column) {
  return reports::json_number(row.get(column));
}

reports::Json as_json(const OneStep& step,
                      std::size_t workers,
                      std::size_t dimension,
                      const Options& options) {
  const auto d = static_cast<double>(dimension);
  const Row& row = step.row();
  const auto predicted =
      predicted_delta_iid(options.aggregator, step.k() / d, static_cast<double>(workers));
  return {{"workers", workers},
          {"dimension", dimension},
          {"k", step.k()},
          {"density", step.k() / d},
          {"aggregator", options.aggregator},
          {"putback", options.put_back},
          {"delta", column(row, Column::delta)},
          {"delta_in", column(row, Column::delta_in)},
          {"delta_out", column(row, Column::delta_out)},
          {"captured_energy", column(row, Column::captured_energy)},
          {"xi", column(row, Column::xi)},
          {"contraction", column(row, Column::contraction)},
          {"accumulator_norm_sq", column(row, Column::accumulator_norm_sq)},
          {"residual_norm_sq", column(row, Column::residual_norm_sq)},
          {"mean_residual_norm_sq", column(row, Column::mean_residual_norm_sq)},
          {"lost_mass_norm_sq", column(row, Column::lost_mass_norm_sq)},
          {"conservation_defect", column(row, Column::conservation_defect)},
          {"nnz_sent", column(row, Column::nnz_sent)},
          {"nnz_applied", column(row, Column::nnz_applied)},
          {"uplink_bytes", column(row, Column::uplink_bytes)},
          {"rounds", column(row, Column::rounds)},
          {"predicted_delta_iid", reports::json_number(predicted)},
          {"selected", step.update().indices},
          {"update", step.update().values}};
}

}  // namespace

ExitCode inspect_command(const Options& options) {
  const Vectors accumulators = read_vectors(options.file);
  const Method method = make_method(options);
  const auto world = make_single_process();
  const Cluster cluster(*world, static_cast<int>(accumulators.size()));
  const GivenVectors objective(accumulators);
  Training training;
  training.objective = &objective;
  training.method = &method;
  training.cluster = &cluster;
  training.iterations = 1;
  training.precision = Precision::float64;
  training.measured = Cadence(1, "every", 1);
  OneStep step;
  train(training, step);
  // Bytes are those of a training, whose messages are float32.
  training.precision = Precision::float32;
  OneStep in_float32;
  train(training, in_float32);
  if (const auto bytes = in_float32.row().get(Column::uplink_bytes)) {
    step.row().set(Column::uplink_bytes, *bytes);
  }
  if (options.gradient) {
    const Vectors gradients = read_vectors(*options.gradient);
    require(gradients.size() == accumulators.size() &&
                gradients.front().size() == accumulators.front().size(),
            "{} holds {} vectors of {} numbers, {} holds {} of {}",
            options.gradient->string(),
            gradients.size(),
            gradients.front().size(),
            options.file.string(),
            accumulators.size(),
            accumulators.front().size());
    // xi is relative to the gradient's step alone, the accumulator being residual plus that step.
    const double scale = mean_norm(gradients);
    if (const auto xi = step.row().get(Column::xi); xi && scale > 0) {
      step.row().set(Column::xi, *xi * mean_norm(accumulators) / scale);
    }
  }
  const auto json = as_json(step, accumulators.size(), accumulators.front().size(), options);
  if (options.json) {
    fmt::print("{}\n", json.dump());
  } else {
    fmt::print("{}\n", json.dump(2));
  }
  return ExitCode::done;
}

}  // namespace residuum
