#include "core/trainer/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/gradient_source.h"
#include "core/protocols/protocol.h"

namespace residuum {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point mark) {
  return std::chrono::duration<double>(Clock::now() - mark).count();
}

template <class Real>
class Trainer {
 public:
  Trainer(const Training& training, StepObserver& observer)
      : training_(training),
        observer_(observer),
        state_(training, observer),
        loop_((training.protocol != nullptr ? *training.protocol : bulk_synchronous())
                  .start(state_)) {}

  Outcome run() {
    const auto started = Clock::now();
    double wall_before = 0;  // time that the run took before it was interrupted
    Outcome outcome;
    const Checkpoints::SaveOrLoad state = [&](RunState& run) {
      state_.save_or_load(run);
      loop_->save_or_load(run);
      outcome.wall_s = wall_before + seconds_since(started);
      run.root(outcome.wall_s);
    };
    if (training_.checkpoints != nullptr) {
      outcome.iterations = training_.checkpoints->load(state);
      wall_before = outcome.iterations > 0 ? outcome.wall_s : 0;
    }
    bool is_spent = false;  // the budget
    while (outcome.iterations < training_.iterations && outcome.state == State::finished &&
           !is_spent && await_gradients(outcome.iterations, state)) {
      const StepEnd end = loop_->advance(outcome.iterations);
      is_spent = end.reason == Reason::spent;
      take_note(end, outcome);
      const bool saves = end.reason != Reason::none || outcome.iterations == training_.iterations;
      if (training_.checkpoints != nullptr && saves && outcome.iterations > 0 &&
          outcome.state != State::diverged && !state_.model_is_lost()) {
        training_.checkpoints->save(outcome.iterations, state);
      }
    }
    if (outcome.state == State::finished) {
      look_at_the_end(outcome);
      add_totals(outcome);
    }
    outcome.wall_s = wall_before + seconds_since(started);
    return outcome;
  }

 private:
  using State = Outcome::State;
  using Reason = StepEnd::Reason;

  /// Waits for the gradients of the next iteration where a training outside has them, and saves
  /// when it asks for that; returns false if it has ended.
  bool await_gradients(std::uint64_t done, const Checkpoints::SaveOrLoad& state) {
    GradientSource* const source = training_.objective->source();
    if (source == nullptr) {
      return true;
    }
    auto next = source->await();
    for (; next == GradientSource::Next::save; next = source->await()) {
      if (training_.checkpoints != nullptr && done > 0 && !state_.model_is_lost()) {
        training_.checkpoints->save(done, state);
      }
    }
    return next == GradientSource::Next::iteration;
  }

  /// Returns how many iterations the run has, or with an open budget seems to have, by what the
  /// first of them have spent of it.
  std::uint64_t expected_iterations(std::uint64_t done) const {
    const double share = training_.budget.share(loop_->spent());
    const double expected = share > 0 ? static_cast<double>(done) / share : 0;
    return share > 0 && expected < static_cast<double>(training_.iterations)
               ? std::max(done, static_cast<std::uint64_t>(std::ceil(expected)))
               : training_.iterations;
  }

  /// Updates the outcome after a version was made or given up.
  void take_note(const StepEnd& end, Outcome& outcome) {
    if (end.diverged()) {
      end_diverged(end, state_.evaluation(), outcome);
      return;
    }
    if (end.made) {
      ++outcome.iterations;
      if (state_.cluster().world().is_root()) {
        observer_.progress(outcome.iterations, expected_iterations(outcome.iterations));
      }
    }
    if (end.reason == Reason::stop) {
      outcome.state = State::stopped;
      outcome.message =
          outcome.iterations > 0
              ? fmt::format("stopped on request after iteration {}", outcome.iterations - 1)
              : "stopped on request before the first iteration";
    }
  }

  void look_at_the_end(Outcome& outcome) {
    std::optional<Evaluation> evaluation;
    const StepEnd end = state_.look_at_the_end(evaluation, outcome.test);
    if (end.diverged()) {
      end_diverged(end, evaluation, outcome);
      return;
    }
    outcome.evaluation = evaluation;
  }

  /// Workers on processes of their own keep what they have sent to themselves.
  void add_totals(Outcome& outcome) {
    if (training_.budget.is_open() && !state_.law().is_real) {
      outcome.totals = state_.sent_by_all();
      outcome.totals->virtual_s = loop_->spent().virtual_s;
    }
  }

  void end_diverged(const StepEnd& end,
                    const std::optional<Evaluation>& evaluation,
                    Outcome& outcome) {
    Divergence found = state_.divergence(end, evaluation);
    // A sum was lost in the last iteration that was made; the model shows it in the next.
    found.iteration = outcome.iterations - (found.of == Divergence::Of::sum ? 1 : 0);
    outcome.state = State::diverged;
    outcome.message = message_of(found, *training_.objective);
    outcome.divergence = found;
  }

  const Training& training_;
  StepObserver& observer_;
  TrainingState<Real> state_;
  std::unique_ptr<Loop> loop_;
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
