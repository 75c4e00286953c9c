#include "experiments/study/worker_smoothness.h"

namespace residuum {

std::vector<double> worker_smoothness(const PreparedRun& run) {
  const auto& shards = run.training.shards;
  const auto workers = static_cast<std::size_t>(run.workers);
  const auto n = static_cast<double>(run.objective->samples());
  std::vector<double> of_each;
  for (std::size_t p = 0; p < workers; ++p) {
    const bool has_data = p < shards.size();
    const auto smoothness = run.objective->shard_smoothness(
        has_data ? std::span<const std::uint32_t>(shards[p]) : std::span<const std::uint32_t>());
    if (!smoothness) {
      return {};
    }
    const double weight =
        has_data ? static_cast<double>(workers) * static_cast<double>(shards[p].size()) / n : 1;
    of_each.push_back(weight * *smoothness);
  }
  return of_each;
}

}  // namespace residuum
