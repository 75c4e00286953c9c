#include "core/aggregators/tree_rounds.h"

#include <bit>

namespace residuum {

std::vector<std::vector<Edge>> tree_rounds(int workers) {
  std::vector<std::vector<Edge>> rounds;
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
  if (workers > whole) {
    auto& fold = rounds.emplace_back();
    for (int worker = whole; worker < workers; ++worker) {
      fold.push_back({.from = worker, .to = worker - whole});
    }
  }
  for (int stride = 1; stride < whole; stride *= 2) {
    auto& round = rounds.emplace_back();
    for (int to = 0; to + stride < whole; to += 2 * stride) {
      round.push_back({.from = to + stride, .to = to});
    }
  }
  return rounds;
}

}  // namespace residuum
