#include "experiments/program/study/budget_section.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {
namespace {

/// The keys that say how long a run is. A budget has one of them.
constexpr auto kLengths =
    std::to_array<const char*>({"iterations", "epochs", "gradients", "virtual_s"});

/// A length of a run that is divided among its iterations.
struct SharedLength {
  std::string where;
  std::string_view unit;
  double amount = 0;
  double per_iteration = 0;
  std::string_view part;  // of what an iteration takes per_iteration
};

/// Returns the number of iterations that have the length. The last one may pass its end, but not by
/// much: runs that a study compares have spent as much.
std::uint64_t whole_iterations(const SharedLength& length) {
  constexpr double kRounding = 1e-12;
  constexpr double kMostExcess = 1.25;
  const double iterations = std::ceil(length.amount / length.per_iteration * (1 - kRounding));
  require(iterations < 4294967296.0,
          "{}: {} {} are {} iterations; 4294967295 are the most",
          length.where,
          length.amount,
          length.unit,
          iterations);
  const double fewer = (iterations - 1) * length.per_iteration;
  require(iterations * length.per_iteration <= kMostExcess * length.amount,
          "{}: {} {} end within an iteration, which takes {}{}; the nearest that fit are {}{}, or "
          "give 'iterations'",
          length.where,
          length.amount,
          length.unit,
          length.per_iteration,
          length.part,
          fewer > 0 ? fmt::format("{} and ", fewer) : std::string(),
          iterations * length.per_iteration);
  return static_cast<std::uint64_t>(iterations);
}

std::uint64_t read_iterations(const Section& budget) {
  const auto iterations = budget.integer("iterations");
  require(iterations >= 1 && iterations < std::int64_t{1} << 32,
          "{} must lie in 1..4294967295, got {}",
          budget.where("iterations"),
          iterations);
  return static_cast<std::uint64_t>(iterations);
}

std::uint64_t read_epochs(const Section& budget,
                          const IterationCosts& iteration,
                          const Training& training) {
  const double epochs = budget.number("epochs");
  const std::string where = budget.where("epochs");
  require(epochs > 0, "{} must be positive, got {}", where, epochs);
  require(training.objective->samples() > 0,
          "{}: this objective has no data set; give 'iterations'",
          where);
  require(iteration.samples.has_value(),
          "{}: under this protocol the number of gradients in an iteration varies; give "
          "'iterations' or 'gradients'",
          where);
  return whole_iterations(
      {.where = where,
       .unit = "epochs",
       .amount = epochs,
       .per_iteration = *iteration.samples / static_cast<double>(training.objective->samples()),
       .part = " of an epoch"});
}

/// Returns the key that a budget has.
const char* key_of_length(const Section& budget) {
  const auto* const found = std::find_if(
      kLengths.begin(), kLengths.end(), [&](const char* key) { return budget.has(key); });
  return found == kLengths.end() ? kLengths.front() : *found;
}

/// Returns the most iterations of a run whose budget ends it. Random streams are keyed by the
/// number of the batch (check_batches).
std::uint64_t most_iterations(const Training& training, const ProtocolLaw& law) {
  return std::max<std::uint64_t>(1, kOpenEnd / training.accumulation / law.local_steps);
}

void read_gradients(const Section& budget,
                    const IterationCosts& iteration,
                    const ProtocolLaw& law,
                    Training& training) {
  constexpr std::int64_t kMost = std::int64_t{1} << 53;
  const auto gradients = budget.integer("gradients");
  require(gradients >= 1 && gradients <= kMost,
          "{} must lie in 1..{}, got {}: it counts those of all workers together",
          budget.where("gradients"),
          kMost,
          gradients);
  if (iteration.gradients) {
    training.iterations =
        whole_iterations({.where = budget.where("gradients"),
                          .unit = "gradients",
                          .amount = static_cast<double>(gradients),
                          .per_iteration = static_cast<double>(*iteration.gradients),
                          .part = ""});
    return;
  }
  training.budget.gradients = static_cast<std::uint64_t>(gradients);
  training.iterations = most_iterations(training, law);
}

/// Virtual time that is measured here would make runs of other lengths on other machines.
void read_virtual_seconds(const Section& budget, const ProtocolLaw& law, Training& training) {
  const double seconds = budget.number("virtual_s");
  const std::string where = budget.where("virtual_s");
  require(seconds > 0, "{} must be positive, got {}", where, seconds);
  require(!law.is_on_wall_clock,
          "{}: a run with execution = \"real\" has no virtual time; give 'iterations' or "
          "'gradients'",
          where);
  require(law.times_gradients,
          "{}: gradients take no virtual time; give protocol.compute, the seconds of a gradient",
          where);
  require(!training.objective->recorded_steps(),
          "{}: recorded gradients come to an end; give 'iterations'",
          where);
  const bool is_measured =
      law.measures_gradients || training.times_work ||
      (training.overlap.rule != OverlapRule::none && training.overlap.ready.empty());
  require(!is_measured,
          "{}: a part of the virtual time is measured, so the run would end elsewhere on another "
          "machine; give seconds in place of \"measured\"",
          where);
  training.budget.virtual_s = seconds;
  training.iterations = most_iterations(training, law);
}

}  // namespace

void read_length(const Section& budget,
                 const IterationCosts& iteration,
                 const ProtocolLaw& law,
                 Training& training) {
  std::vector<std::string> given;
  for (const char* key : kLengths) {
    if (budget.has(key)) {
      given.emplace_back(key);
    }
  }
  if (given.empty() && training.objective->source() != nullptr) {
    training.iterations = kOpenEnd;
    return;
  }
  require(!given.empty(),
          "section [budget] needs 'iterations', 'epochs', 'gradients' or 'virtual_s'");
  require(given.size() == 1,
          "{} and {}: give one of them, either is enough",
          budget.where(given.front()),
          budget.where(given.back()));
  if (given.front() == "iterations") {
    training.iterations = read_iterations(budget);
  } else if (given.front() == "epochs") {
    training.iterations = read_epochs(budget, iteration, training);
  } else if (given.front() == "gradients") {
    read_gradients(budget, iteration, law, training);
  } else {
    read_virtual_seconds(budget, law, training);
  }
}

void check_pilot_length(const Section& sparsifier,
                        const Training& training,
                        const ProtocolLaw& law) {
  require(!training.budget.is_open(),
          "{}: a pilot run is as long as the run, whose iterations are not known yet; give "
          "sparsifier.threshold, or 'budget.iterations'",
          sparsifier.where("threshold"));
  require(!law.is_on_wall_clock,
          "{}: with execution = \"real\" pilot runs would wait as the run does; give "
          "the number that a simulated run has found",
          sparsifier.where("threshold"));
}

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
      budget.where(key_of_length(budget)),
      training.iterations,
      local_steps,
      training.accumulation);
}

void check_recorded(const Section& budget, const Training& training, const ProtocolLaw& law) {
  const auto steps = training.objective->recorded_steps();
  if (!steps || clocks_decide(law)) {
    return;
  }
  // check_batches knows that this product is below 2^32. With a lag, gradients are under way when
  // the last version is made.
  const std::uint64_t lag = law.in_rounds ? law.staleness.value_or(0) : 0;
  const std::uint64_t gradients = training.iterations * law.local_steps + lag;
  require(
      gradients <= *steps,
      "{}: {} iterations take {} gradients of each worker, but {} are recorded; give at most {}",
      budget.where(key_of_length(budget)),
      training.iterations,
      gradients,
      *steps,
      *steps > lag ? (*steps - lag) / law.local_steps : 0);
}

void check_source(const Section& protocol, const Training& training, const ProtocolLaw& law) {
  if (training.objective->source() == nullptr) {
    return;
  }
  const bool takes_one =
      law.synchrony == Synchrony::lockstep && law.local_steps == 1 && !law.is_real;
  require(takes_one,
          "{}: a training outside has one gradient of each worker an iteration, at one model; use "
          "'bsp' without a lag",
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
