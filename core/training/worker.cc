#include "core/training/worker.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <utility>

#include "core/random/random.h"
#include "core/vectors/dense.h"

namespace residuum {

template <class Real>
std::vector<Worker<Real>> workers_here(const Training& training) {
  const Cluster& cluster = *training.cluster;
  std::vector<Worker<Real>> workers;
  workers.reserve(static_cast<std::size_t>(cluster.count()));
  for (int worker = cluster.first(); worker < cluster.first() + cluster.count(); ++worker) {
    workers.emplace_back(training, worker);
  }
  return workers;
}

template <class Real>
std::vector<double> mean_statistics(const Training& training,
                                    std::span<const Worker<Real>> workers) {
  const Cluster& cluster = *training.cluster;
  std::vector<double> mean(training.objective->statistics());
  if (mean.empty()) {
    return mean;
  }
  cluster.sum_in_worker_order(std::span(mean),
                              /*everywhere=*/true,
                              [&](int worker, std::size_t begin, std::span<double> block) {
                                const std::span<const double> own =
                                    workers[cluster.slot(worker)].gradient.statistics();
                                add_to<double>(block, own.subspan(begin, block.size()));
                              });
  for (double& value : mean) {
    value /= cluster.workers();
  }
  return mean;
}

template <class Real>
void save_or_load_scalars(std::span<Worker<Real>> workers, RunState& state) {
  // Bytes are those of one iteration, and the worker that they are booked on depends on the
  // processes: they are neither saved nor taken from a state.
  const auto forget_bytes = [&] {
    for (auto& worker : workers) {
      worker.scalars.down_bytes = 0;
      worker.scalars.bytes = 0;
    }
  };
  forget_bytes();
  state.workers<WorkerScalars>(
      1, [&](std::size_t slot) { return std::span(&workers[slot].scalars, 1); });
  forget_bytes();
}

template <class Real>
void save_or_load_turns(std::span<Worker<Real>> workers, RunState& state) {
  state.workers<std::uint64_t>(
      1, [&](std::size_t slot) { return std::span(&workers[slot].turns, 1); });
}

template <class Real>
void save_or_load_gradients(const Training& training,
                            std::span<Worker<Real>> workers,
                            RunState& state) {
  state.workers<double>(training.objective->statistics(), [&](std::size_t slot) {
    return std::span(workers[slot].gradient.statistics());
  });
  if (const Optimiser* optimiser = training.method->optimiser.get()) {
    state.workers<Real>(
        training.objective->dimension() * optimiser->vectors(),
        [&](std::size_t slot) { return workers[slot].gradient.optimiser_memory(); });
  }
  if (keeps_previous_gradient(training)) {
    state.workers<Real>(training.objective->dimension(),
                        [&](std::size_t slot) { return workers[slot].gradient.kept(); });
  }
}

template <class Real>
void save_or_load_memories(const Training& training,
                           std::span<Worker<Real>> workers,
                           RunState& state) {
  const Feedback& feedback = *training.method->feedback;
  state.workers<Real>(training.objective->dimension() * feedback.vectors(),
                      [&](std::size_t slot) { return workers[slot].memory.all(); });
  if (feedback.estimates()) {
    state.workers<double>(
        1, [&](std::size_t slot) { return std::span(&workers[slot].memory.drift(), 1); });
  }
  const bool reuses =
      training.method->sparsifier->law(training.objective->dimension(), /*step_size=*/1)
          .reuses_threshold;
  if (reuses) {
    const std::size_t parts = training.method->sparsifier->segments().size();
    state.workers<double>(std::max<std::size_t>(1, parts),
                          [&](std::size_t slot) { return workers[slot].memory.thresholds(); });
  }
  if (training.taking_part() < training.cluster->workers()) {
    state.workers<bool>(1, [&](std::size_t slot) {
      return std::span(&workers[slot].memory.is_residual_counted(), 1);
    });
    return;
  }
  // A root without workers measures nothing of residuals.
  bool counted = !workers.empty() && workers.front().memory.is_residual_counted();
  state.shared(counted);
  for (auto& worker : workers) {
    worker.memory.is_residual_counted() = counted;
  }
}

template std::vector<Worker<float>> workers_here(const Training&);
template std::vector<Worker<double>> workers_here(const Training&);
template std::vector<double> mean_statistics(const Training&, std::span<const Worker<float>>);
template std::vector<double> mean_statistics(const Training&, std::span<const Worker<double>>);
template void save_or_load_scalars(std::span<Worker<float>>, RunState&);
template void save_or_load_scalars(std::span<Worker<double>>, RunState&);
template void save_or_load_turns(std::span<Worker<float>>, RunState&);
template void save_or_load_turns(std::span<Worker<double>>, RunState&);
template void save_or_load_gradients(const Training&, std::span<Worker<float>>, RunState&);
template void save_or_load_gradients(const Training&, std::span<Worker<double>>, RunState&);
template void save_or_load_memories(const Training&, std::span<Worker<float>>, RunState&);
template void save_or_load_memories(const Training&, std::span<Worker<double>>, RunState&);

Participants::Participants(std::uint64_t seed, int workers, int count)
    : seed_(seed),
      order_(static_cast<std::size_t>(workers)),
      numbers_(static_cast<std::size_t>(count)),
      takes_part_(order_.size()) {
  assert(count >= 1 && count <= workers);
  std::iota(numbers_.begin(), numbers_.end(), 0);
  std::fill_n(takes_part_.begin(), count, true);
}

/// Takes the first m places of a random permutation (Fisher and Yates).
void Participants::draw(std::uint64_t version) {
  if (are_all()) {
    return;
  }
  RandomStream random(seed_, Purpose::participation, 0, static_cast<std::uint32_t>(version));
  std::iota(order_.begin(), order_.end(), 0);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    const auto left = static_cast<std::uint32_t>(order_.size() - i);
    std::swap(order_[i], order_[i + random.below(left)]);
    numbers_[i] = order_[i];
  }
  std::sort(numbers_.begin(), numbers_.end());
  std::fill(takes_part_.begin(), takes_part_.end(), false);
  for (const int worker : numbers_) {
    takes_part_[static_cast<std::size_t>(worker)] = true;
  }
}

}  // namespace residuum
