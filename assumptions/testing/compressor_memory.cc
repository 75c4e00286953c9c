#include "assumptions/testing/compressor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/testing/compressor_session.h"

namespace residuum::laws {
namespace {

constexpr double kUnlikely = 31622.776601683792;  // sqrt(1e9)
constexpr double kDrained = 1e-6;
constexpr std::size_t kMostSteps = 20'000;
/// Adding to a residual in float32 and taking from it each round an entry once.
constexpr double kStepRounding = 4 * 0x1p-24;

double norm_of(std::span<const double> x) {
  double sum = 0;
  for (const double value : x) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

/// 20 vectors to remember, large ones among them.
std::vector<std::vector<float>> inputs_to_remember(std::size_t d) {
  constexpr std::uint32_t kInputs = 20;
  constexpr std::uint32_t kHeavyEvery = 5;
  std::vector<std::vector<float>> inputs;
  for (std::uint32_t number = 0; number < kInputs; ++number) {
    auto x = normal_singles(d, number);
    if (number % kHeavyEvery == 0) {
      std::transform(
          x.begin(), x.end(), x.begin(), [](float value) { return value * value * value; });
    }
    inputs.push_back(std::move(x));
  }
  return inputs;
}

}  // namespace

ConservationWatch::ConservationWatch(std::optional<double> contraction,
                                     double decay,
                                     bool random,
                                     std::size_t d)
    : factor_(std::sqrt(1 - contraction.value_or(0))),
      decay_(decay),
      slack_(random ? kUnlikely : 1),
      outstanding_(d) {}

std::string ConservationWatch::step(const WatchedStep& taken) {
  const auto [input, output, told_residual] = taken;
  const double before = norm_of(outstanding_);
  std::vector<double> untold;
  for (std::size_t i = 0; i < input.size(); ++i) {
    const double accumulated = decay_ * outstanding_[i] + static_cast<double>(input[i]);
    outstanding_[i] = accumulated - static_cast<double>(output[i]);
    if (!told_residual.empty()) {
      untold.push_back(outstanding_[i] - static_cast<double>(told_residual[i]));
    }
  }
  const double size = std::sqrt(norm_sq_of(input));
  bound_ = factor_ * (decay_ * bound_ + size);
  largest_bound_ = std::max(largest_bound_, bound_);
  const double left = norm_of(outstanding_);
  rounding_ = decay_ * rounding_ + kStepRounding * (before + size + left);
  if (!(norm_of(untold) <= rounding_)) {
    return fmt::format("inputs - outputs - residual has norm {:.6g}, and rounding explains {:.2g}",
                       norm_of(untold),
                       rounding_);
  }
  const double most = slack_ * bound_ + rounding_;
  if (has_bound() && !(left <= most)) {
    return fmt::format(
        "inputs - outputs has norm {:.6g}, and a residual has at most {:.6g}", left, most);
  }
  return "";
}

std::size_t ConservationWatch::steps_to_drain() const {
  const double excess = slack_ * bound_ / (kDrained * largest_bound_);
  if (!has_bound() || !(excess > 1)) {
    return 0;
  }
  const double shrinks = -std::log(std::max(factor_ * decay_, 1e-3));
  return static_cast<std::size_t>(std::ceil(std::log(excess) / shrinks));
}

namespace {

/// Returns the reason why a residual that was not given cannot be judged after `steps` steps; empty
/// if it can.
std::string what_is_unseen(const ConservationWatch& watch, std::size_t steps) {
  if (!watch.has_bound()) {
    return "without a contraction above 0 the residual must be told";
  }
  return watch.steps_to_drain() > 0
             ? fmt::format("{} steps are too few to see what so small a contraction leaves", steps)
             : "";
}

}  // namespace

LawFinding conservation_finding(CompressorSession& session, const CompressorClaims& claims) {
  constexpr const char* kLaw = "conservation";
  if (!claims.has_memory) {
    return not_looked_at(kLaw, "the compressor is not said to have a memory");
  }
  const std::size_t d = session.dimension();
  ConservationWatch watch(contraction_of(claims, d), claims.decay, claims.random, d);
  const auto inputs = inputs_to_remember(d);
  const std::size_t filled = inputs.size();
  const std::vector<float> zero(d);
  bool tells = true;
  std::size_t step = 0;
  for (; step < filled || (watch.steps_to_drain() > 0 && step < filled + kMostSteps); ++step) {
    const auto& input = step < filled ? inputs[step] : zero;
    const auto answer = session.ask("a", input, fmt::format("step {}", step + 1));
    tells = tells && !answer.residual.empty();
    const std::string fault =
        watch.step({.input = input, .output = answer.output, .told_residual = answer.residual});
    if (!fault.empty()) {
      const std::string zeros =
          step < filled ? "" : fmt::format(", {} of them with zero vectors", step + 1 - filled);
      return {kLaw, false, fmt::format("after {} steps{}: {}", step + 1, zeros, fault)};
    }
  }
  const std::string unseen = tells ? "" : what_is_unseen(watch, step);
  return unseen.empty()
             ? LawFinding{kLaw,
                          true,
                          fmt::format("outputs and residual add up to the inputs in {} steps",
                                      step)}
             : not_looked_at(kLaw, unseen);
}

}  // namespace residuum::laws
