#include "experiments/study/budget_section.h"

namespace residuum {

void check_batches(const Section& budget, const Training& training, std::uint64_t local_steps) {
  const std::uint64_t batches = training.accumulation * local_steps;
  require(training.iterations < (std::uint64_t{1} << 32) / batches,
          "{}: {} iterations of {} batches per worker are 2^32 batches or more; accumulate fewer, "
          "or step fewer times between exchanges",
          budget.where(budget.has("epochs") ? "epochs" : "iterations"),
          training.iterations,
          batches);
}

void check_recorded(const Section& budget, const Training& training, const ProtocolLaw& law) {
  const auto steps = training.objective->recorded_steps();
  if (!steps || law.synchrony == Synchrony::late) {
    return;
  }
  require(
      training.iterations * law.local_steps <= *steps,
      "{}: {} iterations take {} gradients of each worker, but {} are recorded; give at most {}",
      budget.where("iterations"),
      training.iterations,
      training.iterations * law.local_steps,
      *steps,
      *steps / law.local_steps);
}

std::optional<double> read_loss_bound(const Section& section, const Objective& objective) {
  if (!section.has("loss_bound")) {
    return std::nullopt;
  }
  require(objective.has_function(),
          "{}: the gradients of this objective are recorded, and have no loss to bound",
          section.where("loss_bound"));
  const double bound = section.number("loss_bound");
  require(bound > 0, "{} must be positive, got {}", section.where("loss_bound"), bound);
  return bound;
}

}  // namespace residuum
