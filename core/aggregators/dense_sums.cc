#include "core/aggregators/dense_sums.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <utility>

namespace residuum {
namespace {

using Algorithm = AllReduce::Algorithm;

Algorithm algorithm_from(const Section& section) {
  const auto name = section.choice(
      "algorithm", {"chain", "ring", "tree", "recursive-doubling", "hierarchical"}, "chain");
  return name == "ring"                 ? Algorithm::ring
         : name == "tree"               ? Algorithm::tree
         : name == "recursive-doubling" ? Algorithm::recursive_doubling
         : name == "hierarchical"       ? Algorithm::hierarchical
                                        : Algorithm::chain;
}

int whole_of(int workers) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
}

/// Charges vectors that go, in all nodes at once, from the last worker to the first or back.
void pass_in_nodes(int per_node, bool is_up, std::size_t bytes, Ledger& ledger) {
  for (int step = 1; step < per_node; ++step) {
    const int lower = is_up ? per_node - 1 - step : step - 1;
    for (int first = 0; first < ledger.cluster().workers(); first += per_node) {
      const int worker = first + lower;
      ledger.carry(is_up ? worker + 1 : worker, is_up ? worker : worker + 1, bytes);
    }
    ledger.end_round();
  }
}

}  // namespace

void AllReduce::check(int workers) const {
  require(workers % per_node == 0,
          "{}: {} workers are no whole number of nodes of {}; choose a divisor of 'workers.count'",
          place_of_nodes,
          workers,
          per_node);
}

void AllReduce::charge(std::size_t values, std::size_t value_bytes, Ledger& ledger) const {
  const std::size_t bytes = values * value_bytes;
  switch (algorithm) {
    case Algorithm::chain:
      ledger.pass_chain(bytes);
      break;
    case Algorithm::ring:
      ledger.pass_ring(values, value_bytes);
      break;
    case Algorithm::tree:
      ledger.pass_up(bytes);
      ledger.pass_down(bytes);
      break;
    case Algorithm::recursive_doubling:
      ledger.pass_doubling(bytes);
      break;
    case Algorithm::hierarchical:
      pass_in_nodes(per_node, /*is_up=*/true, bytes, ledger);
      ledger.pass_ring(values, value_bytes, per_node);
      pass_in_nodes(per_node, /*is_up=*/false, bytes, ledger);
      break;
  }
}

double AllReduce::traffic(int workers, double vector_bytes) const {
  if (algorithm == Algorithm::recursive_doubling) {
    const int whole = whole_of(workers);
    return (whole * ceil_log2(whole) + 2 * (workers - whole)) * vector_bytes;
  }
  // In all others, every number of the sum is sent P-1 times on its way to it, and P-1 times after.
  return 2.0 * (workers - 1) * vector_bytes;
}

double AllReduce::work_share(int workers) const {
  switch (algorithm) {
    case Algorithm::chain:
      return 1;
    case Algorithm::ring:
    case Algorithm::hierarchical:
      return static_cast<double>(per_node) / workers;
    case Algorithm::tree:
    case Algorithm::recursive_doubling:
      return static_cast<double>(ceil_log2(workers)) / workers;
  }
  return 1;
}

AllReduce all_reduce_from(const Section& section) {
  AllReduce result;
  result.algorithm = algorithm_from(section);
  if (result.algorithm == Algorithm::hierarchical) {
    const auto per_node = section.integer("per_node");
    result.place_of_nodes = section.where("per_node");
    require(per_node >= 1 && per_node <= std::numeric_limits<int>::max(),
            "{} must be at least 1 and divide 'workers.count', got {}",
            result.place_of_nodes,
            per_node);
    result.per_node = static_cast<int>(per_node);
  }
  return result;
}

namespace {

/// A block of a sum and some partial sums of it stay in the L2 cache.
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

/// Calls visit(begin, end) for the blocks of numbers from `begin` to `end`.
template <class Real, class Visit>
void for_each_block(std::size_t begin, std::size_t end, const Visit& visit) {
  constexpr std::size_t kMost = kBlockBytes / sizeof(Real);
  for (; begin < end; begin += kMost) {
    visit(begin, std::min(begin + kMost, end));
  }
}

template <class Real>
void add_to_block(std::span<Real> sum, std::span<const Real> addend) {
  std::transform(sum.begin(), sum.end(), addend.begin(), sum.begin(), std::plus<Real>());
}

/// Moves a block from the process of a worker to that of another.
template <class Real>
void move_block(const Cluster& cluster, int from, int to, std::span<Real> block) {
  if (cluster.host(from) == cluster.host(to)) {
    return;
  }
  if (cluster.here(from)) {
    cluster.world().send(cluster.host(to), std::as_bytes(block));
  } else if (cluster.here(to)) {
    cluster.world().receive(cluster.host(from), std::as_writable_bytes(block));
  }
}

/// Sends a chunk to the process of the next workers while another comes from that of the workers
/// before.
void swap_chunks(const Cluster& cluster,
                 std::span<const std::byte> outgoing,
                 std::span<std::byte> incoming) {
  const int workers = cluster.workers();
  const int before = cluster.host((cluster.first() + workers - 1) % workers);
  cluster.world().post(before, incoming);
  cluster.world().send(cluster.host((cluster.first() + cluster.count()) % workers), outgoing);
  cluster.world().take(before);
}

/// Copies the chunks that a ring has summed from the processes where they ended to all.
template <class Real>
void broadcast_chunks(const Cluster& cluster, int per_node, std::span<Real> sum) {
  const auto nodes = static_cast<std::size_t>(cluster.workers() / per_node);
  const auto host = [&](std::size_t node) {
    return cluster.host(static_cast<int>(node) * per_node);
  };
  for (std::size_t node = 0, end = 0; node < nodes; node = end) {
    for (end = node; end < nodes && host(end) == host(node);) {
      ++end;
    }
    const std::size_t begin = part_begin(sum.size(), node, nodes);
    const auto chunks = sum.subspan(begin, part_begin(sum.size(), end, nodes) - begin);
    cluster.world().broadcast(host(node), std::as_writable_bytes(chunks));
  }
}

}  // namespace

DenseRules dense_rules_from(const Section& section) {
  DenseRules rules{.reduction = reduction_from(section), .all_reduce = all_reduce_from(section)};
  require(rules.reduction == Reduction::ordered ||
              rules.all_reduce.algorithm == AllReduce::Algorithm::chain,
          "{}: MPI_Allreduce chooses an order of its own, so that \"fast\" goes with algorithm "
          "\"chain\" alone; take out one of the two keys",
          section.where("reduction"));
  return rules;
}

template <class Real>
void DenseSums<Real>::take(const DenseRules& rules,
                           const Cluster& cluster,
                           const AddWorker<Real>& add,
                           std::span<Real> sum) {
  if (rules.all_reduce.algorithm == AllReduce::Algorithm::chain) {
    sum_everywhere<Real>(cluster, rules.reduction, sum, add);
  } else {
    take_by_blocks(rules.all_reduce, cluster, add, sum);
  }
}

template <class Real>
void DenseSums<Real>::take_by_blocks(const AllReduce& rule,
                                     const Cluster& cluster,
                                     const AddWorker<Real>& add,
                                     std::span<Real> sum) {
  const auto block_at = [&](std::size_t begin, std::size_t end) {
    return Block{
        .cluster = cluster, .add = add, .begin = begin, .sum = sum.subspan(begin, end - begin)};
  };
  const int workers = cluster.workers();
  if (rule.algorithm == AllReduce::Algorithm::tree ||
      rule.algorithm == AllReduce::Algorithm::recursive_doubling) {
    const auto whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
    for_each_block<Real>(0, sum.size(), [&](std::size_t begin, std::size_t end) {
      const Block block = block_at(begin, end);
      merge_up(block, 0, whole, block.sum);
    });
    cluster.broadcast(0, std::as_writable_bytes(sum));
    return;
  }
  if (rule.per_node == 1 && cluster.world().size() > 1) {
    go_round_with_all(cluster, add, sum);
    return;
  }
  const int nodes = workers / rule.per_node;
  for (int node = 0; node < nodes; ++node) {
    const auto part = static_cast<std::size_t>(node);
    const auto parts = static_cast<std::size_t>(nodes);
    for_each_block<Real>(part_begin(sum.size(), part, parts),
                         part_begin(sum.size(), part + 1, parts),
                         [&](std::size_t begin, std::size_t end) {
                           go_round(block_at(begin, end), node, rule.per_node);
                         });
  }
  broadcast_chunks(cluster, rule.per_node, sum);
}

/// Takes the chunks round the ring twice, all at the same time: chunk c comes to worker c + step in
/// each step and is whole at worker c. Afterwards it is only passed on.
template <class Real>
void DenseSums<Real>::go_round_with_all(const Cluster& cluster,
                                        const AddWorker<Real>& add,
                                        std::span<Real> sum) {
  const int workers = cluster.workers();
  const int first = cluster.first();
  const int end = first + cluster.count();
  const auto chunk_at = [&](int worker, int step) {
    const auto chunk = static_cast<std::size_t>((worker - step + 2 * workers) % workers);
    const auto parts = static_cast<std::size_t>(workers);
    return std::pair(part_begin(sum.size(), chunk, parts),
                     part_begin(sum.size(), chunk + 1, parts));
  };
  const auto bytes_at = [&](int worker, int step) {
    const auto [begin, behind] = chunk_at(worker, step);
    return std::as_writable_bytes(sum.subspan(begin, behind - begin));
  };
  for (int step = 1; step < 2 * workers; ++step) {
    if (step > 1) {
      swap_chunks(cluster, bytes_at(end, step), bytes_at(first, step));
    }
    for (int worker = first; worker < end && step <= workers; ++worker) {
      const auto [begin, behind] = chunk_at(worker, step);
      for_each_block<Real>(begin, behind, [&](std::size_t from, std::size_t to) {
        const auto block = sum.subspan(from, to - from);
        if (step == 1) {
          std::fill(block.begin(), block.end(), Real{0});
        }
        add(worker, from, block);
      });
    }
  }
}

/// Sums the block over the nodes of a ring, on to the first worker of `last_node`. On every process
/// the place of the block in the sum holds what has been summed so far.
template <class Real>
void DenseSums<Real>::go_round(const Block& block, int last_node, int per_node) {
  const int nodes = block.cluster.workers() / per_node;
  for (int step = 1; step <= nodes; ++step) {
    const int first = (last_node + step) % nodes * per_node;
    if (step > 1) {
      const int before = (last_node + step - 1) % nodes * per_node;
      move_block(block.cluster, before, first, block.sum);
    } else if (block.cluster.here(first)) {
      std::fill(block.sum.begin(), block.sum.end(), Real{0});
    }
    add_node(block, first, per_node);
  }
}

/// Adds what a node's workers have, summed from the last to the first, on the process of the first.
template <class Real>
void DenseSums<Real>::add_node(const Block& block, int first, int per_node) {
  const Cluster& cluster = block.cluster;
  if (per_node == 1) {
    if (cluster.here(first)) {
      block.add(first, block.begin, block.sum);
    }
    return;
  }
  const auto of_node = scratch(0, block);
  const int last = first + per_node - 1;
  if (cluster.here(last)) {
    std::fill(of_node.begin(), of_node.end(), Real{0});
  }
  for (int worker = last; worker >= first; --worker) {
    if (cluster.here(worker)) {
      block.add(worker, block.begin, of_node);
    }
    if (worker > first) {
      move_block(cluster, worker, worker - 1, of_node);
    }
  }
  if (cluster.here(first)) {
    add_to_block<Real>(block.sum, of_node);
  }
}

/// target := the sum of the workers first, ..., first + count - 1 and of those that are folded into
/// them, on the process of `first`; `count` is a power of two.
template <class Real>
void DenseSums<Real>::merge_up(const Block& block, int first, int count, std::span<Real> target) {
  const Cluster& cluster = block.cluster;
  if (count == 1) {
    if (cluster.here(first)) {
      std::fill(target.begin(), target.end(), Real{0});
      block.add(first, block.begin, target);
    }
    const auto whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(cluster.workers())));
    if (first + whole < cluster.workers()) {
      add_folded(block, first, first + whole, target);
    }
    return;
  }
  const int half = count / 2;
  const auto other = scratch(static_cast<std::size_t>(ceil_log2(count)), block);
  merge_up(block, first, half, target);
  merge_up(block, first + half, half, other);
  move_block(cluster, first + half, first, other);
  if (cluster.here(first)) {
    add_to_block<Real>(target, other);
  }
}

template <class Real>
void DenseSums<Real>::add_folded(const Block& block,
                                 int worker,
                                 int folded,
                                 std::span<Real> target) {
  const Cluster& cluster = block.cluster;
  if (cluster.here(worker) && cluster.here(folded)) {
    block.add(folded, block.begin, target);
    return;
  }
  const auto other = scratch(0, block);
  if (cluster.here(folded)) {
    std::fill(other.begin(), other.end(), Real{0});
    block.add(folded, block.begin, other);
  }
  move_block(cluster, folded, worker, other);
  if (cluster.here(worker)) {
    add_to_block<Real>(target, other);
  }
}

/// Returns room for a partial sum of the block. Levels of the tree have rooms of their own.
template <class Real>
std::span<Real> DenseSums<Real>::scratch(std::size_t level, const Block& block) {
  const auto levels = static_cast<std::size_t>(ceil_log2(block.cluster.workers())) + 1;
  scratch_.resize(std::max(scratch_.size(), levels));
  scratch_[level].resize(std::max(scratch_[level].size(), block.sum.size()));
  return std::span(scratch_[level]).first(block.sum.size());
}

template <class Real>
void DenseSums<Real>::take_and_charge(const DenseRules& rules,
                                      const AddWorker<Real>& add,
                                      std::span<Real> sum,
                                      Ledger& ledger) {
  const AllReduce& all_reduce = rules.all_reduce;
  const Cluster& cluster = ledger.cluster();
  ledger.work_all([&] { take(rules, cluster, add, sum); },
                  all_reduce.work_share(cluster.workers()));
  all_reduce.charge(sum.size(), sizeof(Real), ledger);
}

template class DenseSums<float>;
template class DenseSums<double>;

}  // namespace residuum
