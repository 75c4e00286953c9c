#pragma once
// An all-reduce is an algorithm by which P workers come to have the sum of their vectors of d
// numbers. It decides the order of the additions and what the network carries:
//   chain               ((a_0 + a_1) + a_2) ..., from worker to worker and back: 2 (P-1) rounds
//                       of d numbers
//   ring                2 (P-1) rounds of d/P numbers (Patarasuk, Yuan, JPDC 2009). Chunk c of P
//                       nearly equal ones is summed along the ring from worker c+1 on and ends with
//                       worker c: ((a_{c+1} + a_{c+2}) + ...) + a_c; then it goes round once more
//   tree                pairs along tree_rounds.h up to worker 0, and back down: 2 ceil(log2 P)
//                       rounds of d numbers
//   recursive-doubling  worker i and worker i xor 2^r exchange d numbers and both add, for
//                       r = 0 .. log2 m - 1 with m = 2^floor(log2 P). Workers from m on are folded
//                       in before and get the sum after, a round each (Thakur, Rabenseifner, Gropp,
//                       IJHPCA 2005). Sums have the bits of the tree's, because a + b = b + a
//   hierarchical        in each node of `per_node` workers, a chain from its last worker to its
//                       first; a ring over these first workers; and the chain back: 2 (per_node-1)
//                       rounds of d numbers and 2 (P/per_node - 1) of d per_node/P

#include <cstdint>
#include <string>

#include "core/cluster/ledger.h"
#include "core/config/section.h"

namespace residuum {

struct AllReduce {
  enum class Algorithm : std::uint8_t { chain, ring, tree, recursive_doubling, hierarchical };

  Algorithm algorithm = Algorithm::chain;
  int per_node = 1;                 // workers
  std::string place_of_nodes = {};  // for messages: where `per_node` is written

  /// Reports a usage error for a number of workers that nodes do not divide.
  void check(int workers) const;

  /// Charges the messages of one sum of `values` values.
  void charge(std::size_t values, std::size_t value_bytes, Ledger& ledger) const;
  /// Returns the bytes of these messages for a vector of `vector_bytes` bytes.
  double traffic(int workers, double vector_bytes) const;

  /// Returns which part of the additions of all workers lies on the critical path.
  double work_share(int workers) const;
};

/// Reads `algorithm` and, for "hierarchical", `per_node`.
AllReduce all_reduce_from(const Section& section);

}  // namespace residuum
