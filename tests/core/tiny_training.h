#pragma once
// Whole trainings of problems small enough to be followed by hand.

#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/protocols/protocol.h"
#include "core/schedules/density_schedule.h"
#include "core/trainer/trainer.h"
#include "tests/core/support.h"
#include "tests/core/tiny_objective.h"

namespace residuum::test {

/// A matrix of 6 rows and 4 columns, and a vector of 3 entries: d = 27.
inline std::vector<Layer> matrix_and_bias() {
  return {{.name = "weight", .shape = {6, 4}, .offset = 0, .size = 24},
          {.name = "bias", .shape = {3}, .offset = 24, .size = 3}};
}

struct Recipe {
  Json sparsifier = {{"kind", "none"}};
  Json aggregator = {{"kind", "dense"}};
  Json feedback = {{"kind", "ef14"}};
  Json step = {{"value", 0.1}};
  double momentum = 0;
  bool looks_ahead = false;
  double outer_step = 1;
  UpdateRule update_rule = UpdateRule::mean;
  double weight_decay = 0;
  Clip clip = Clip::none;
  double clip_norm = 0;
  int workers = 1;
  std::uint64_t iterations = 1;
  Precision precision = Precision::float64;
  std::uint64_t seed = 1;
  Json measured = 1;
  std::optional<Json> evaluated = std::nullopt;
  std::optional<Json> tested = std::nullopt;
  bool measure = true;
  std::size_t batch = 1;
  std::size_t accumulation = 1;
  Sampling sampling = Sampling::replacement;
  std::vector<std::vector<std::uint32_t>> shards = {};
  const std::atomic<bool>* stop = nullptr;
  // Keys that only some probes ask for.
  std::optional<Json> split = std::nullopt;
  std::optional<Json> power = std::nullopt;
  std::optional<Json> sorted = std::nullopt;
  std::optional<Json> magnitudes = std::nullopt;
  std::optional<Json> virtual_points = std::nullopt;
  bool compares_points = false;
  bool unperturbed = false;  // takes effect with virtual_points
  bool averages_iterates = false;
  std::optional<double> loss_bound = std::nullopt;
  std::optional<double> minimum = std::nullopt;
  std::vector<double> minimizer = {};
  std::vector<double> worker_smoothness = {};
  std::optional<LyapunovFacts> lyapunov = std::nullopt;
  Checkpoints* checkpoints = nullptr;
  const Protocol* protocol = nullptr;  // bulk-synchronous
  std::optional<int> participants = std::nullopt;
  MessageQueue* queue = nullptr;  // of a protocol that is real
  std::vector<NetworkModel> networks = {};
  bool times_work = false;
  Overlap overlap = {};
  std::vector<Segment> layers = {};  // what a sparsifier of scope "layer" selects from one by one
  Json quantiser = {{"kind", "none"}};
  std::vector<Segment> quantised_layers = {};  // that are quantised one by one
  Json local = {{"optimiser", "sgd"}};
  OpenBudget budget = {};
  Sleeper* sleeper = nullptr;
  const Device* device = nullptr;  // of the workers' memories
};

/// A sparsifier's density schedule is counted in iterations; it is read for `dimension` entries.
inline Method method_of(const Recipe& recipe, std::size_t dimension) {
  const Section step("step", recipe.step);
  const Section selection("sparsifier", recipe.sparsifier);
  Method method{.sparsifier = make_sparsifier(selection, recipe.layers),
                .aggregator = aggregator(recipe.aggregator),
                .feedback = feedback(recipe.feedback),
                .step_rule = make_step_rule(step, {}),
                .momentum = recipe.momentum,
                .looks_ahead = recipe.looks_ahead,
                .outer_step = recipe.outer_step,
                .update_rule = recipe.update_rule,
                .weight_decay = recipe.weight_decay,
                .clip = recipe.clip,
                .clip_norm = recipe.clip_norm,
                .quantiser = quantiser(recipe.quantiser),
                .quantised_layers = recipe.quantised_layers,
                .optimiser = make_optimiser(Section("local", recipe.local))};
  if (method.optimiser != nullptr) {
    method.memory_periods = memory_periods_from(Section("local", recipe.local), *method.optimiser);
  }
  method.stages = read_density_stages(
      selection,
      *method.sparsifier,
      {.layers = recipe.layers, .dimension = dimension, .iterations = recipe.iterations});
  selection.finish();
  step.finish();
  return method;
}

/// Sets when what only some probes ask for is measured.
inline void set_cadences(const Recipe& recipe, MeasurementPlan& plan) {
  if (recipe.split) {
    plan.split = Cadence(*recipe.split, "'probes.noise_every'", recipe.iterations);
  }
  if (recipe.magnitudes) {
    plan.magnitudes = Cadence(*recipe.magnitudes, "'probes.magnitudes_every'", recipe.iterations);
  }
  if (recipe.sorted) {
    plan.sorted = Cadence(*recipe.sorted, "'probes.tail_every'", recipe.iterations);
  }
  if (recipe.power) {
    plan.power = Cadence(*recipe.power, "'probes.power_every'", recipe.iterations);
  }
  if (recipe.virtual_points) {
    plan.virtual_points =
        Cadence(*recipe.virtual_points, "'probes.virtual_every'", recipe.iterations);
  }
}

/// Trains by the recipe on the processes of `world`; the observer is called on the root.
inline Outcome train(World& world,
                     const Objective& objective,
                     const Recipe& recipe,
                     StepObserver& observer) {
  const Cluster cluster = recipe.protocol != nullptr
                              ? recipe.protocol->cluster(world, recipe.workers)
                              : Cluster(world, recipe.workers);
  const Method method = method_of(recipe, objective.dimension());
  Training training;
  training.protocol = recipe.protocol;
  training.objective = &objective;
  training.method = &method;
  training.cluster = &cluster;
  training.queue = recipe.queue;
  training.shards = recipe.shards;
  training.seed = recipe.seed;
  training.iterations = recipe.iterations;
  training.budget = recipe.budget;
  training.sleeper = recipe.sleeper;
  training.batch = recipe.batch;
  training.accumulation = recipe.accumulation;
  training.sampling = recipe.sampling;
  training.participants = recipe.participants;
  training.precision = recipe.precision;
  training.device = recipe.device;
  training.networks = recipe.networks;
  training.times_work = recipe.times_work;
  training.overlap = recipe.overlap;
  training.plan.measure = recipe.measure;
  training.plan.measured = Cadence(recipe.measured, "'probes.every'", recipe.iterations);
  if (recipe.evaluated) {
    training.plan.evaluated = Cadence(*recipe.evaluated, "'probes.evaluate'", recipe.iterations);
  }
  if (recipe.tested) {
    training.plan.tested = Cadence(*recipe.tested, "'probes.test'", recipe.iterations);
  }
  training.stop = recipe.stop;
  set_cadences(recipe, training.plan);
  training.plan.compares_points = recipe.compares_points;
  training.plan.wants_unperturbed = recipe.unperturbed;
  training.plan.averages_iterates = recipe.averages_iterates;
  training.loss_bound = recipe.loss_bound;
  training.minimum = recipe.minimum;
  training.minimizer = recipe.minimizer;
  training.worker_smoothness = recipe.worker_smoothness;
  training.lyapunov = recipe.lyapunov;
  training.checkpoints = recipe.checkpoints;
  return residuum::train(training, observer);
}

/// A copy of the view of one measured iteration, which outlives the iteration.
struct Frame {
  explicit Frame(const StepView& view)
      : iteration(view.iteration),
        epoch(view.epoch),
        step_size(view.step_size),
        model(view.iterates.model.begin(), view.iterates.model.end()),
        virtual_iterate(view.iterates.virtual_dense.begin(), view.iterates.virtual_dense.end()),
        unperturbed(view.iterates.unperturbed.begin(), view.iterates.unperturbed.end()),
        expected_gap(view.iterates.expected_gap.begin(), view.iterates.expected_gap.end()),
        mean_gradient(view.mean.gradient.begin(), view.mean.gradient.end()),
        mean_accumulator(view.mean.accumulator.begin(), view.mean.accumulator.end()),
        mean_residual(view.mean.residual.begin(), view.mean.residual.end()),
        update(view.exchange.is_dense ? std::vector<double>(view.exchange.dense_update.begin(),
                                                            view.exchange.dense_update.end())
                                      : dense(*view.exchange.update, view.dimension())),
        scalars(view.worker_scalars.begin(), view.worker_scalars.end()),
        gap_before_norm(view.iterates.gap_before_norm),
        virtual_step_norm(view.iterates.virtual_step_norm),
        compensated_gap_norm_sq(view.iterates.compensated_gap_norm_sq),
        conserves(view.loses_nothing()),
        follows_measured(view.follows_measured),
        evaluation(view.evaluations.at_model),
        evaluations(view.evaluations),
        sums(view.iterates.sums),
        unperturbed_sums(view.iterates.unperturbed_sums),
        decay_terms(view.iterates.decay_terms),
        test(view.test),
        traffic(view.exchange.traffic),
        traffic_model(view.exchange.traffic_model.value_or(TrafficModel{})),
        k(view.selection.k),
        threshold(view.selection.threshold),
        contributors(view.contributors.begin(), view.contributors.end()),
        notes(view.notes),
        late_noise(view.late_noise),
        rounded_magnitude(view.iterates.rounded_magnitude) {
    if (notes) {
      staleness_counts.assign(notes->staleness_counts.begin(), notes->staleness_counts.end());
      notes->staleness_counts = {};
    }
  }

  /// |(w - z) - what the residuals say it is|, the largest entry.
  double conservation_defect() const {
    double largest = 0;
    for (std::size_t j = 0; j < model.size(); ++j) {
      largest = std::max(largest, std::abs(model[j] - virtual_iterate[j] - expected_gap[j]));
    }
    return largest;
  }

  std::uint64_t iteration;
  double epoch;
  double step_size;
  std::vector<double> model;
  std::vector<double> virtual_iterate;
  std::vector<double> unperturbed;
  std::vector<double> expected_gap;
  std::vector<double> mean_gradient;
  std::vector<double> mean_accumulator;
  std::vector<double> mean_residual;
  std::vector<double> update;
  std::vector<WorkerScalars> scalars;
  double gap_before_norm;
  double virtual_step_norm;
  double compensated_gap_norm_sq;
  bool conserves;
  bool follows_measured;
  std::optional<Evaluation> evaluation;
  EvaluationsView evaluations;
  RunningSums sums;
  std::optional<RunningSums> unperturbed_sums;
  std::optional<DecayTerms> decay_terms;
  std::optional<TestResult> test;
  Traffic traffic;
  TrafficModel traffic_model;
  double k;
  std::optional<double> threshold;
  std::vector<int> contributors;
  std::optional<VersionNotes> notes;
  std::vector<std::uint64_t> staleness_counts;
  std::optional<double> late_noise;
  std::optional<double> rounded_magnitude;
};

/// Equal in every bit of everything but times.
inline void expect_same_frames(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t t = 0; t < a.size(); ++t) {
    ASSERT_EQ(a[t].model, b[t].model) << "iteration " << t;
    ASSERT_EQ(a[t].virtual_iterate, b[t].virtual_iterate);
    ASSERT_EQ(a[t].unperturbed, b[t].unperturbed);
    ASSERT_EQ(a[t].mean_gradient, b[t].mean_gradient);
    ASSERT_EQ(a[t].mean_accumulator, b[t].mean_accumulator);
    ASSERT_EQ(a[t].mean_residual, b[t].mean_residual);
    ASSERT_EQ(a[t].expected_gap, b[t].expected_gap);
    ASSERT_EQ(a[t].update, b[t].update);
    ASSERT_EQ(a[t].traffic.bytes, b[t].traffic.bytes);
    ASSERT_EQ(a[t].traffic.rounds, b[t].traffic.rounds);
    ASSERT_EQ(a[t].evaluation->loss, b[t].evaluation->loss);
    ASSERT_EQ(a[t].evaluation->grad_norm_sq, b[t].evaluation->grad_norm_sq);
    ASSERT_EQ(a[t].evaluations.virtual_loss, b[t].evaluations.virtual_loss);
    ASSERT_EQ(a[t].evaluations.averaged_loss, b[t].evaluations.averaged_loss);
    ASSERT_EQ(a[t].evaluations.unperturbed_loss, b[t].evaluations.unperturbed_loss);
    ASSERT_EQ(a[t].evaluations.decayed_grad_norm_sq, b[t].evaluations.decayed_grad_norm_sq);
    ASSERT_EQ(a[t].evaluations.smoothness_secant, b[t].evaluations.smoothness_secant);
    ASSERT_EQ(a[t].sums.gap, b[t].sums.gap);
    ASSERT_EQ(a[t].unperturbed_sums.has_value(), b[t].unperturbed_sums.has_value());
    if (a[t].unperturbed_sums) {
      ASSERT_EQ(a[t].unperturbed_sums->gap, b[t].unperturbed_sums->gap);
      ASSERT_EQ(a[t].unperturbed_sums->noise, b[t].unperturbed_sums->noise);
    }
    ASSERT_EQ(a[t].follows_measured, b[t].follows_measured);
    ASSERT_EQ(a[t].contributors, b[t].contributors);
    ASSERT_EQ(a[t].notes.has_value(), b[t].notes.has_value());
    if (a[t].notes) {
      ASSERT_EQ(a[t].notes->total_contributions, b[t].notes->total_contributions);
      ASSERT_EQ(a[t].notes->staleness_mean, b[t].notes->staleness_mean);
      ASSERT_EQ(a[t].notes->control_bytes, b[t].notes->control_bytes);
      ASSERT_EQ(a[t].notes->seconds, b[t].notes->seconds);
      ASSERT_FALSE(a[t].notes->wall_s.has_value());
      ASSERT_EQ(a[t].notes->waits, b[t].notes->waits);
      ASSERT_EQ(a[t].notes->weight_skew, b[t].notes->weight_skew);
      ASSERT_EQ(a[t].notes->consensus_sq, b[t].notes->consensus_sq);
    }
    ASSERT_EQ(a[t].staleness_counts, b[t].staleness_counts);
    ASSERT_EQ(a[t].late_noise, b[t].late_noise);
    ASSERT_EQ(a[t].rounded_magnitude, b[t].rounded_magnitude);
    for (std::size_t p = 0; p < a[t].scalars.size(); ++p) {
      ASSERT_EQ(a[t].scalars[p].residual_norm_sq, b[t].scalars[p].residual_norm_sq);
      ASSERT_EQ(a[t].scalars[p].total_error, b[t].scalars[p].total_error);
      ASSERT_EQ(a[t].scalars[p].magnitude, b[t].scalars[p].magnitude);
      ASSERT_EQ(a[t].scalars[p].total_nnz, b[t].scalars[p].total_nnz);
      ASSERT_EQ(a[t].scalars[p].gradient_change_sq, b[t].scalars[p].gradient_change_sq);
    }
  }
}

class FrameKeeper final : public StepObserver {
 public:
  void observe(const StepView& view) override { frames.emplace_back(view); }
  void progress(std::uint64_t done, std::uint64_t total) override {
    reported.emplace_back(done, total);
  }
  std::vector<Frame> frames;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> reported;
};

struct Run {
  Outcome outcome;
  std::vector<Frame> frames;
  /// The last measured one.
  std::vector<double> model() const { return frames.back().model; }
};

/// Trains with one process for all workers and keeps every measured iteration.
inline Run train(const Objective& objective, const Recipe& recipe) {
  const auto world = make_single_process();
  FrameKeeper keeper;
  Outcome outcome = train(*world, objective, recipe, keeper);
  return {.outcome = std::move(outcome), .frames = std::move(keeper.frames)};
}

}  // namespace residuum::test
