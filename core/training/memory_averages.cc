#include "core/training/memory_averages.h"

#include <algorithm>
#include <functional>

namespace residuum {

template <class Real>
void MemoryAverages<Real>::take(std::uint64_t iteration,
                                const Training& training,
                                std::span<Worker<Real>> workers,
                                ExchangeResult<Real>& exchanged) {
  const Method& method = *training.method;
  if (method.averaged_memories(iteration) == 0) {
    return;
  }
  const Cluster& cluster = *training.cluster;
  const std::size_t d = training.objective->dimension();
  const auto count = static_cast<Real>(cluster.workers());
  const DenseRules rules{.all_reduce = all_reduce_of_memories()};
  Ledger ledger = Ledger::after(cluster, exchanged.transfers);
  mean_.resize(d);
  for (std::size_t vector = 0; vector < method.memory_periods.size(); ++vector) {
    if (!method.averages_memory(vector, iteration)) {
      continue;
    }
    const auto memory_of = [&](Worker<Real>& worker) {
      return worker.gradient.optimiser_memory().subspan(vector * d, d);
    };
    const auto add = [&](int worker, std::size_t begin, std::span<Real> block) {
      add_overlap<Real>(memory_of(workers[cluster.slot(worker)]), 0, begin, block);
    };
    sums_.take_and_charge(rules, std::cref(add), mean_, ledger);
    for (Real& value : mean_) {
      value /= count;
    }
    for (Worker<Real>& worker : workers) {
      std::copy(mean_.begin(), mean_.end(), memory_of(worker).begin());
    }
  }
  const Traffic traffic = ledger.traffic();
  exchanged.traffic.bytes += traffic.bytes;
  exchanged.traffic.rounds += traffic.rounds;
}

template class MemoryAverages<float>;
template class MemoryAverages<double>;

}  // namespace residuum
