#pragma once
// The binary tree of gTopKAllReduce (Shi et al., ICDCS 2019) is defined on worker numbers, for any
// P. With m = 2^floor(log2 P), workers r >= m are merged into r - m first; then, at strides 1, 2,
// 4, ..., worker i receives from i + stride. With P = 6 and m = 4:
//
//   worker      0     1     2     3     4     5
//   fold        <-----------------------4
//                     <-----------------------5
//   stride 1    <-----1     <-----3
//   stride 2    <-----------2                       worker 0 has all

#include <bit>
#include <vector>

namespace residuum {

struct Edge {
  int from = 0;
  int to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// Returns the rounds of the reduction to worker 0; the edges of a round touch different workers.
inline std::vector<std::vector<Edge>> tree_rounds(int workers) {
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
