#include "core/aggregators/all_reduce.h"

#include <bit>
#include <limits>

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

}  // namespace residuum
