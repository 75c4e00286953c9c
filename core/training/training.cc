#include "core/training/training.h"

#include "core/error.h"
#include "core/training/worker_gradient.h"

namespace residuum {

bool Training::follows_unperturbed(std::uint64_t local_steps) const {
  return plan.measure && plan.wants_unperturbed && plan.virtual_points &&
         (steps_locally(*method, local_steps) || !method->follows_gradients());
}

void check_dimension(const Objective& objective) {
  constexpr std::size_t kEnd = std::size_t{1} << 32;
  require(objective.dimension() < kEnd,
          "the model has {} parameters; at most {} can be trained, so take a smaller model",
          objective.dimension(),
          kEnd - 1);
}

std::span<const std::uint32_t> Training::shard_of(int worker) const {
  if (shards.empty()) {
    return {};
  }
  return shards[static_cast<std::size_t>(worker)];
}

std::vector<MatrixPlace> matrices_of(const Objective& objective) {
  std::vector<MatrixPlace> matrices;
  for (const Layer& layer : objective.layers()) {
    const auto rows = layer.shape.empty() ? 1 : static_cast<std::size_t>(layer.shape.front());
    matrices.push_back(
        {.begin = layer.offset, .rows = rows, .columns = rows == 0 ? 0 : layer.size / rows});
  }
  return matrices;
}

}  // namespace residuum
