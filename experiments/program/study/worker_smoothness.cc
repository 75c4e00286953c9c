#include "experiments/program/study/worker_smoothness.h"

#include <algorithm>

namespace residuum {
namespace {

/// Calls `constant_of` with the shard of every worker and returns what it returns, for the
/// objectives (P n_p / n) f_p; nothing where it is absent for some worker.
template <class ConstantOf>
std::vector<double> of_each_worker(const PreparedRun& run, const ConstantOf& constant_of) {
  const auto& shards = run.training.shards;
  const auto workers = static_cast<std::size_t>(run.workers);
  const auto n = static_cast<double>(run.objective->samples());
  std::vector<double> of_each;
  for (std::size_t p = 0; p < workers; ++p) {
    const bool has_data = p < shards.size();
    const auto constant = constant_of(has_data ? std::span<const std::uint32_t>(shards[p])
                                               : std::span<const std::uint32_t>());
    if (!constant) {
      return {};
    }
    const double weight =
        has_data ? static_cast<double>(workers) * static_cast<double>(shards[p].size()) / n : 1;
    of_each.push_back(weight * *constant);
  }
  return of_each;
}

}  // namespace

std::vector<double> worker_smoothness(const PreparedRun& run) {
  return of_each_worker(run, [&](std::span<const std::uint32_t> shard) {
    return run.objective->shard_smoothness(shard);
  });
}

std::optional<double> worker_strong_convexity(const PreparedRun& run) {
  const auto of_each = of_each_worker(run, [&](std::span<const std::uint32_t> shard) {
    return run.objective->shard_strong_convexity(shard);
  });
  const auto smallest = std::min_element(of_each.begin(), of_each.end());
  return smallest == of_each.end() || !(*smallest > 0) ? std::nullopt : std::optional(*smallest);
}

}  // namespace residuum
