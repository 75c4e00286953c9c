// The laws of compressors that show in a table of inputs and outputs.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "assumptions/testing/compressor_memory.h"
#include "assumptions/testing/compressor_session.h"
#include "core/error.h"

namespace residuum::laws {
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
