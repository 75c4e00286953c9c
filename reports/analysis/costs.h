#pragma once
// Costs are the iterations, bytes, modelled time and samples that a run has spent when a quantity
// was evaluated.

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include "core/record/columns.h"
#include "reports/analysis/measures.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

inline constexpr std::size_t kCosts = 4;
inline constexpr std::size_t kCostIterations = 0;
inline constexpr std::size_t kCostBytes = 1;
inline constexpr std::size_t kCostTime = 2;
inline constexpr std::size_t kCostSamples = 3;
/// Samples are a cost of their own only where methods take different numbers of them an iteration.
inline constexpr std::size_t kCostsOfTargets = 3;

struct CostName {
  std::string_view name;
  std::string_view unit;
};
inline constexpr std::array<CostName, kCosts> kCostNames{
    {{"iterations", ""}, {"bytes", "bytes"}, {"modelled time", "s"}, {"samples", ""}}};

using Costs = std::array<std::optional<double>, kCosts>;

/// Returns what the whole run has cost; absent where that cannot be known, because iterations were
/// not measured or there is no network model.
Costs costs_of(const Run& run, const Spent& bytes, const Spent& time);

/// Calls `take(spent, value)` for each evaluation of the quantity, in their order, the last one
/// after the last step. An evaluation at iteration t is of w_t, before what iteration t spends.
void read_evaluations(const Run& run,
                      Column quantity,
                      const std::function<void(const Costs& spent, double value)>& take);

}  // namespace residuum::reports
