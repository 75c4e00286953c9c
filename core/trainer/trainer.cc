#include "core/trainer/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/measurement/evaluate.h"
#include "core/measurement/landscape.h"
#include "core/measurement/measurement.h"
#include "core/trainer/step_end.h"
#include "core/training/model_update.h"
#include "core/training/worker_gradients.h"
#include "core/training/worker_messages.h"

namespace residuum {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point mark) {
  return std::chrono::duration<double>(Clock::now() - mark).count();
}

/// Seconds since `mark`, which is moved to now.
double lap(Clock::time_point& mark) {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - mark).count();
  mark = now;
  return seconds;
}

template <class Real>
class Trainer {
 public:
  Trainer(const Training& training, StepObserver& observer)
      : training_(training),
        method_(*training.method),
        objective_(*training.objective),
        cluster_(*training.cluster),
        observer_(observer),
        d_(objective_.dimension()),
        model_(d_),
        update_(training),
        gradients_(training),
        messages_(training),
        scalars_(slots()),
        exchange_(method_.aggregator->template exchange<Real>()) {
    objective_.initial_point(training.seed, model_);
    working_model_.assign(model_.begin(), model_.end());
  }

  Outcome run() {
    const auto started = Clock::now();
    Measurement<Real> measurement(training_, model_);
    Landscape landscape(training_);
    Outcome outcome;
    const auto state = [&](RunState& run) {
      visit(run, measurement, landscape);
      outcome.wall_s = wall_before_ + seconds_since(started);
      run.root(outcome.wall_s);
    };
    if (training_.checkpoints != nullptr) {
      outcome.iterations = training_.checkpoints->load(state);
      wall_before_ = outcome.iterations > 0 ? outcome.wall_s : 0;
    }
    while (outcome.iterations < training_.iterations && outcome.state == State::finished) {
      const StepEnd end = step(outcome.iterations, measurement, landscape);
      take_note(end, landscape.evaluation(), outcome);
      const bool saves = end.reason != Reason::none || outcome.iterations == training_.iterations;
      if (training_.checkpoints != nullptr && saves && outcome.state != State::diverged) {
        training_.checkpoints->save(outcome.iterations, state);
      }
    }
    if (outcome.state == State::finished) {
      look_at_the_end(outcome);
    }
    outcome.wall_s = wall_before_ + seconds_since(started);
    return outcome;
  }

 private:
  using State = Outcome::State;
  using Reason = StepEnd::Reason;

  /// What the iteration that has just been tried makes of the run.
  void take_note(const StepEnd& end,
                 const std::optional<Evaluation>& evaluation,
                 Outcome& outcome) {
    const std::uint64_t t = outcome.iterations;
    if (end.diverged()) {
      end_diverged(end, evaluation, outcome);
      return;
    }
    ++outcome.iterations;
    if (cluster_.world().is_root()) {
      observer_.progress(outcome.iterations, training_.iterations);
    }
    if (end.reason == Reason::stop) {
      outcome.state = State::stopped;
      outcome.message = fmt::format("stopped on request after iteration {}", t);
    }
  }

  void look_at_the_end(Outcome& outcome) {
    std::vector<double> gradient;
    const auto statistics = gradients_.mean_statistics();
    const Evaluation evaluation = residuum::evaluate(
        training_, {model_, statistics}, training_.plan.full_gradient ? &gradient : nullptr);
    const StepEnd end = agree(cluster_.world(), end_at_point(evaluation));
    if (end.diverged()) {
      end_diverged(end, evaluation, outcome);
      return;
    }
    outcome.evaluation = evaluation;
    outcome.test = tested(statistics);
  }

  /// Collective: the process that has seen it tells the others.
  void end_diverged(const StepEnd& end,
                    const std::optional<Evaluation>& evaluation,
                    Outcome& outcome) {
    const bool of_worker = end.reason == Reason::broken_worker;
    Divergence found;
    if (end.reason == Reason::lost_model) {
      found = broken_model<Real>(working_model_);
    } else if (of_worker && cluster_.here(end.worker)) {
      const std::size_t slot = cluster_.slot(end.worker);
      found = broken_worker<Real>(
          gradients_.all()[slot], messages_.accumulators()[slot], scalars_[slot].gradient_norm_sq);
    } else if (end.reason == Reason::bad_loss && evaluation) {
      found = {.of = Divergence::Of::loss,
               .value = evaluation->loss,
               .bound = training_.loss_bound.value_or(0)};
    }
    found.iteration = outcome.iterations;
    found.worker = of_worker ? end.worker : -1;
    cluster_.world().broadcast(of_worker ? cluster_.host(end.worker) : 0,
                               std::as_writable_bytes(std::span(&found, 1)));
    outcome.state = State::diverged;
    outcome.message = message_of(found, objective_);
    outcome.divergence = found;
  }

  /// All that the next iteration needs of those before it.
  void visit(RunState& state, Measurement<Real>& measurement, Landscape& landscape) {
    state.shared(model_);
    update_.visit(state);
    for (auto& scalars : scalars_) {
      scalars.bytes = 0;  // which worker they are booked on depends on the processes
    }
    state.workers(scalars_);
    gradients_.visit(state);
    messages_.visit(state);
    measurement.visit(state);
    landscape.visit(state);
    working_model_.assign(model_.begin(), model_.end());
    model_is_lost_ = !is_usable_model<Real>(working_model_);
  }

  std::size_t slots() const { return static_cast<std::size_t>(cluster_.count()); }

  double epoch(std::uint64_t t) const {
    const auto n = static_cast<double>(objective_.samples());
    if (n == 0) {
      return 0;
    }
    const double per_iteration =
        training_.batch == 0 ? n : static_cast<double>(training_.batch) * cluster_.workers();
    return static_cast<double>(t) * per_iteration / n;
  }

  /// One iteration; returns what the processes agreed on.
  StepEnd step(std::uint64_t t, Measurement<Real>& measurement, Landscape& landscape) {
    const bool measured = training_.plan.measures(t);
    StepTimes times;
    auto mark = Clock::now();
    const double eta = method_.step_rule->at(t, epoch(t));
    landscape.average(t, model_);
    std::optional<TestResult> test;
    if (measured) {
      const auto statistics = gradients_.mean_statistics();
      landscape.look(t,
                     {.model = model_,
                      .virtual_iterate = measurement.virtual_iterate(),
                      .unperturbed = measurement.unperturbed_iterate()},
                     statistics);
      test = is_due(training_.plan.tested, t) ? tested(statistics) : std::nullopt;
    }
    times.measure_s += lap(mark);

    gradients_.compute(t, working_model_, scalars_);
    times.compute_s = lap(mark);
    const bool split = measured && is_due(training_.plan.split, t) &&
                       gradients_.compute_halves(t, working_model_, scalars_);
    times.measure_s += lap(mark);
    messages_.form(t, eta, gradients_.all(), scalars_);
    const StepEnd end =
        agree(cluster_.world(), own_end(measured ? landscape.evaluation() : std::nullopt));
    times.select_s = lap(mark);
    if (end.diverged()) {
      return end;
    }
    StepState<Real> state = view_of(t, eta);
    combine(state.k);
    state.update_scale = update_.clip(delivery_, eta);
    times.aggregate_s = lap(mark);
    if (split) {
      state.half_gradients = gradients_.halves();
    }
    measurement.before_update(state, measured);
    if (measured) {
      landscape.look_ahead(measurement.virtual_iterate(), measurement.mean_gradient(), eta);
      messages_.measure(scalars_);
    }
    times.measure_s += lap(mark);
    model_is_lost_ = !update_.apply(delivery_, eta, model_, working_model_);
    messages_.settle(delivery_, measured, scalars_);
    times.aggregate_s += lap(mark);
    measurement.after_update(state, measured);
    // Numbers of a model that is lost are no measurement; the next iteration will not be done.
    if (measured && !model_is_lost_) {
      times.measure_s += lap(mark);
      measurement.show(state, landscape, test, times, observer_);
    }
    gradients_.drop_halves();
    return end;
  }

  StepState<Real> view_of(std::uint64_t t, double eta) {
    return {.iteration = t,
            .epoch = epoch(t),
            .step_size = eta,
            .k = method_.sparsifier_at(t).k(d_).value_or(d_),
            .update_scale = 1,
            .gradients = gradients_.all(),
            .half_gradients = {},
            .first_half = gradients_.first_half(),
            .memories = messages_.memories(),
            .messages = messages_.messages(),
            .settlements = messages_.settlements(),
            .delivery = &delivery_,
            .model = model_,
            .scalars = scalars_};
  }

  std::optional<TestResult> tested(std::span<const double> statistics) const {
    return cluster_.world().is_root() ? objective_.test({model_, statistics}) : std::nullopt;
  }

  /// Whether the model and the loss there, which the root knows, allow to go on.
  StepEnd end_at_point(const std::optional<Evaluation>& evaluation) const {
    if (model_is_lost_) {
      return {.reason = Reason::lost_model};
    }
    if (!evaluation || !cluster_.world().is_root()) {
      return {};
    }
    const bool is_good = std::isfinite(evaluation->loss) &&
                         (!training_.loss_bound || evaluation->loss <= *training_.loss_bound);
    return {.reason = is_good ? Reason::none : Reason::bad_loss};
  }

  /// The first worker here whose gradient or accumulator is not finite.
  StepEnd end_at_workers() const {
    for (std::size_t slot = 0; slot < slots(); ++slot) {
      const auto& scalars = scalars_[slot];
      if (!std::isfinite(scalars.gradient_norm_sq) || !std::isfinite(scalars.accumulator_norm_sq)) {
        return {.reason = Reason::broken_worker,
                .worker = cluster_.first() + static_cast<int>(slot)};
      }
    }
    return {};
  }

  /// What this process has seen, or wants.
  StepEnd own_end(const std::optional<Evaluation>& evaluation) const {
    const StepEnd seen = std::min(end_at_point(evaluation), end_at_workers());
    if (seen.diverged()) {
      return seen;
    }
    if (training_.stop != nullptr && training_.stop->load()) {
      return {.reason = Reason::stop};
    }
    const bool asks = training_.checkpoints != nullptr && cluster_.world().is_root();
    return {.reason = asks && training_.checkpoints->due() ? Reason::save : Reason::none};
  }

  void combine(std::size_t k) {
    const Contributions<Real> contributions{.dimension = d_,
                                            .k = k,
                                            .messages = messages_.messages(),
                                            .accumulators = messages_.accumulators()};
    exchange_->combine(cluster_, contributions, delivery_);
    scalars_.front().bytes = static_cast<double>(delivery_.traffic.bytes);
    scalars_.front().total_bytes += scalars_.front().bytes;
  }

  const Training& training_;
  const Method& method_;
  const Objective& objective_;
  const Cluster& cluster_;
  StepObserver& observer_;
  std::size_t d_;

  double wall_before_ = 0;           // what the run took before it was interrupted
  std::vector<double> model_;        // w
  std::vector<Real> working_model_;  // w as the gradients see it
  bool model_is_lost_ = false;       // it has an entry that is not usable
  ModelUpdate<Real> update_;
  WorkerGradients<Real> gradients_;
  WorkerMessages<Real> messages_;
  std::vector<WorkerScalars> scalars_;
  std::unique_ptr<Exchange<Real>> exchange_;
  Delivery<Real> delivery_;
};

}  // namespace

Outcome train(const Training& training, StepObserver& observer) {
  check_dimension(*training.objective);
  if (training.precision == Precision::float64) {
    return Trainer<double>(training, observer).run();
  }
  return Trainer<float>(training, observer).run();
}

}  // namespace residuum
