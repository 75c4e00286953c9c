#include "core/training/matrices.h"

namespace residuum {

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
