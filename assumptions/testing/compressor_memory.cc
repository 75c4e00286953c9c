#include "assumptions/testing/compressor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/testing/compressor_session.h"
#include "core/error.h"

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

// The laws of compressors that show in a table of inputs and outputs.

namespace {

using Rows = std::span<const std::vector<double>>;

double row_norm_sq(std::span<const double> row) {
  double sum = 0;
  for (const double value : row) {
    sum += value * value;
  }
  return sum;
}

double row_distance_sq(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += (x[i] - y[i]) * (x[i] - y[i]);
  }
  return sum;
}

LawFinding pairs_contraction(Rows inputs, Rows outputs, const CompressorClaims& claims) {
  const auto contraction = contraction_of(claims, inputs.front().size());
  if (!contraction && !claims.omega) {
    return not_looked_at("contraction", "no k of a biased rule, no contraction and no omega");
  }
  if (claims.has_memory || claims.random) {
    return not_looked_at("contraction",
                         claims.has_memory
                             ? "outputs of a memory are not those of the inputs alone"
                             : "one draw for each vector says nothing of an expectation");
  }
  const double allowed = contraction ? 1 - *contraction : *claims.omega;
  for (std::size_t row = 0; row < inputs.size(); ++row) {
    const double error = row_distance_sq(inputs[row], outputs[row]);
    const double total = row_norm_sq(inputs[row]);
    if (!(error <= (allowed + 2 * kSingleRounding) * total)) {
      return {"contraction",
              false,
              fmt::format("row {}: |x - C(x)|^2 = {:.6g} |x|^2, allowed is {:.6g} |x|^2",
                          row,
                          error / total,
                          allowed)};
    }
  }
  return {"contraction", true, fmt::format("|x - C(x)|^2 is at most {:.6g} |x|^2", allowed)};
}

LawFinding pairs_sparsity(Rows outputs, const CompressorClaims& claims) {
  if (!claims.k) {
    return not_looked_at("sparsity", "no k is claimed");
  }
  for (std::size_t row = 0; row < outputs.size(); ++row) {
    const auto sent = std::count_if(
        outputs[row].begin(), outputs[row].end(), [](double value) { return value != 0; });
    if (static_cast<std::size_t>(sent) > *claims.k) {
      return {"sparsity",
              false,
              fmt::format("row {}: {} entries are not zero, but k is {}", row, sent, *claims.k)};
    }
  }
  return {"sparsity", true, fmt::format("no row has more than {} entries", *claims.k)};
}

LawFinding pairs_zero(Rows inputs, Rows outputs, const CompressorClaims& claims) {
  if (claims.has_memory) {
    return not_looked_at("zero", "a memory may answer to a zero vector with what it kept");
  }
  bool has_zero = false;
  for (std::size_t row = 0; row < inputs.size(); ++row) {
    if (row_norm_sq(inputs[row]) > 0) {
      continue;
    }
    has_zero = true;
    if (row_norm_sq(outputs[row]) > 0) {
      return {"zero", false, fmt::format("row {}: the answer to the zero vector is not zero", row)};
    }
  }
  return has_zero ? LawFinding{"zero", true, "the zero vector comes back as it is"}
                  : not_looked_at("zero", "no row is zero");
}

LawFinding pairs_determinism(Rows inputs, Rows outputs, const CompressorClaims& claims) {
  if (claims.has_memory || claims.random) {
    return not_looked_at("determinism", "the compressor is said to have a memory, or to draw");
  }
  std::vector<std::size_t> order(inputs.size());
  for (std::size_t row = 0; row < order.size(); ++row) {
    order[row] = row;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return inputs[a] < inputs[b];
  });
  bool has_equal = false;
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (inputs[order[i - 1]] != inputs[order[i]]) {
      continue;
    }
    has_equal = true;
    if (outputs[order[i - 1]] != outputs[order[i]]) {
      return {"determinism",
              false,
              fmt::format(
                  "rows {} and {} have equal inputs and other outputs", order[i - 1], order[i])};
    }
  }
  return has_equal ? LawFinding{"determinism", true, "rows of equal inputs have equal outputs"}
                   : not_looked_at("determinism", "no two rows have equal inputs");
}

std::vector<float> as_single_row(const std::vector<double>& row) {
  return {row.begin(), row.end()};
}

LawFinding pairs_conservation(Rows inputs, Rows outputs, const CompressorClaims& claims) {
  if (!claims.has_memory) {
    return not_looked_at("conservation", "the compressor is not said to have a memory");
  }
  const std::size_t d = inputs.front().size();
  ConservationWatch watch(contraction_of(claims, d), claims.decay, claims.random, d);
  if (!watch.has_bound()) {
    return not_looked_at("conservation", "it takes a contraction above 0");
  }
  for (std::size_t row = 0; row < inputs.size(); ++row) {
    const auto input = as_single_row(inputs[row]);
    const auto output = as_single_row(outputs[row]);
    const std::string fault = watch.step({.input = input, .output = output, .told_residual = {}});
    if (!fault.empty()) {
      return {"conservation", false, fmt::format("after row {}: {}", row, fault)};
    }
  }
  if (const std::size_t more = watch.steps_to_drain(); more > 0) {
    return not_looked_at(
        "conservation",
        fmt::format(
            "a loss, or no memory at all, shows once zero rows at the end have narrowed the "
            "bound of a residual: it takes {} more",
            more));
  }
  return {"conservation", true, "zero rows at the end bring out what inputs - outputs left"};
}

}  // namespace

std::vector<LawFinding> check_compressed_pairs(Rows inputs,
                                               Rows outputs,
                                               const CompressorClaims& claims) {
  require(inputs.size() == outputs.size() && inputs.front().size() == outputs.front().size(),
          "the inputs are {} vectors of {} numbers and the outputs {} of {}; they must agree",
          inputs.size(),
          inputs.front().size(),
          outputs.size(),
          outputs.front().size());
  return {pairs_contraction(inputs, outputs, claims),
          pairs_conservation(inputs, outputs, claims),
          pairs_sparsity(outputs, claims),
          pairs_zero(inputs, outputs, claims),
          pairs_determinism(inputs, outputs, claims)};
}

}  // namespace residuum::laws
