#include "experiments/study/budget_section.h"

namespace residuum {

std::optional<std::uint64_t> product_within(std::initializer_list<std::uint64_t> factors,
                                            std::uint64_t most) {
  std::uint64_t product = 1;
  for (const std::uint64_t factor : factors) {
    if (factor != 0 && product > most / factor) {
      return std::nullopt;
    }
    product *= factor;
  }
  return product;
}

void check_batches(const Section& budget, const Training& training, std::uint64_t local_steps) {
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 32U) - 1;
  const auto all = product_within({training.iterations, training.accumulation, local_steps}, kMost);
  require(
      all.has_value(),
      "{}: {} iterations of {} times {} batches per worker are 2^32 batches or more; accumulate "
      "fewer, or step fewer times between exchanges",
      budget.where(budget.has("epochs") ? "epochs" : "iterations"),
      training.iterations,
      local_steps,
      training.accumulation);
}

void check_recorded(const Section& budget, const Training& training, const ProtocolLaw& law) {
  const auto steps = training.objective->recorded_steps();
  if (!steps || law.synchrony == Synchrony::late) {
    return;
  }
  // check_batches knows that this product is below 2^32.
  const std::uint64_t gradients = training.iterations * law.local_steps;
  require(
      gradients <= *steps,
      "{}: {} iterations take {} gradients of each worker, but {} are recorded; give at most {}",
      budget.where("iterations"),
      training.iterations,
      gradients,
      *steps,
      *steps / law.local_steps);
}

void check_source(const Section& protocol, const Training& training, const ProtocolLaw& law) {
  if (training.objective->source() == nullptr) {
    return;
  }
  const bool takes_one =
      law.synchrony == Synchrony::lockstep && law.local_steps == 1 && !law.is_real;
  require(takes_one,
          "{}: a training outside has one gradient of each worker an iteration, at one model; use "
          "'bsp'",
          protocol.where("kind"));
}

std::optional<double> read_loss_bound(const Section& section, const Objective& objective) {
  if (!section.has("loss_bound")) {
    return std::nullopt;
  }
  require(objective.has_function(),
          "{}: the gradients of this objective come from elsewhere, and have no loss to bound",
          section.where("loss_bound"));
  const double bound = section.number("loss_bound");
  require(bound > 0, "{} must be positive, got {}", section.where("loss_bound"), bound);
  return bound;
}

}  // namespace residuum
