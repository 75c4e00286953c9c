#include "core/protocols/gossip_loop.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "core/cluster/ledger.h"
#include "core/messages/wire.h"
#include "core/vectors/dense.h"

namespace residuum {
namespace {

/// Returns the processes that have neighbours of the worker, without its own, in increasing order.
std::vector<int> processes_of_neighbours(const Cluster& cluster, const Graph& graph, int worker) {
  std::vector<int> processes;
  for (const int neighbour : graph.neighbours(worker)) {
    const int host = cluster.host(neighbour);
    if (host != cluster.host(worker) && (processes.empty() || processes.back() != host)) {
      processes.push_back(host);
    }
  }
  return processes;
}

/// target := target + message, or the message, which is then everything.
template <class Real>
void bring_up_to_date(std::span<Real> target, std::span<const Real> everything, bool adds) {
  for (std::size_t i = 0; i < target.size(); ++i) {
    target[i] = adds ? target[i] + everything[i] : everything[i];
  }
}

template <class Real>
void add_entries(std::span<Real> target, const SparseVector<Real>& entries) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    target[entries.indices[i]] += entries.values[i];
  }
}

}  // namespace

template <class Real>
GossipLoop<Real>::GossipLoop(TrainingState<Real>& state,
                             GossipRule rule,
                             const SimulatedMachine& machine)
    : state_(state),
      training_(state.training()),
      cluster_(state.cluster()),
      d_(training_.objective->dimension()),
      rule_(std::move(rule)),
      models_(static_cast<std::size_t>(cluster_.count()), std::vector<double>(d_)),
      copies_(static_cast<std::size_t>(cluster_.workers())),
      messages_(models_.size()),
      mean_(d_),
      time_(virtual_time_of(training_, machine)),
      real_time_(real_time_of(training_, machine)) {
  if (time_) {
    exchanged_.transfers = time_->transfers();
    seconds_ = time_->local_seconds();
  }
  for (auto& model : models_) {
    training_.objective->initial_point(training_.seed, model);
  }
  for (int worker = 0; worker < cluster_.workers(); ++worker) {
    receivers_.push_back(processes_of_neighbours(cluster_, rule_.mixing.graph(), worker));
    if (cluster_.here(worker) || comes_here(worker)) {
      // All know the start, so copies begin there: the zero of the paper, with w_0 as the origin.
      const auto& start = state_.working_model();
      copies_[static_cast<std::size_t>(worker)].assign(start.begin(), start.end());
    }
  }
}

template <class Real>
StepEnd GossipLoop<Real>::advance(std::uint64_t t) {
  if (const auto over = state_.end_if_spent(spent())) {
    return *over;
  }
  MixingIteration<Real> iteration(state_, t, t * static_cast<std::uint64_t>(cluster_.workers()));
  const double eta = iteration.step_size();
  if (real_time_) {
    real_time_->begin();
  }
  state_.select_together([&] {
    each_worker([&](std::size_t slot, Worker<Real>& worker) {
      take_seconds(
          seconds_.compute, slot, [&] { compute(t, eta, iteration.splits(), slot, worker); });
      take_seconds(seconds_.select, slot, [&] { compress(t, eta, slot, worker); });
    });
  });
  if (real_time_) {
    real_time_->await_gradients(state_.participants(), t, 1);
  }
  auto [end, computed] = std::move(iteration).agree();
  if (!computed) {
    return end;
  }
  Ledger ledger(cluster_, exchanged_.transfers);
  exchange(ledger);
  each_worker([&](std::size_t slot, Worker<Real>& worker) { mix(eta, slot, worker); });
  take_mean();
  if (time_) {
    time_->advance(t, 1, seconds_);
    computed->show_network(time_->view());
  }
  if (real_time_) {
    computed->show_wall_time(real_time_->now());
  }
  std::move(*computed).move_to(mean_, exchanged_, notes_of(t));
  return end;
}

/// Calls act(slot, worker) for the workers of this process.
template <class Real>
template <class Act>
void GossipLoop<Real>::each_worker(const Act& act) {
  for (std::size_t slot = 0; slot < models_.size(); ++slot) {
    act(slot, state_.worker(cluster_.first() + static_cast<int>(slot)));
  }
}

/// Computes G^p at the worker's own model, which makes the half step.
template <class Real>
void GossipLoop<Real>::compute(
    std::uint64_t t, double eta, bool splits, std::size_t slot, Worker<Real>& worker) {
  auto& model = models_[slot];
  point_.assign(model.begin(), model.end());
  worker.gradient.compute({.first = t, .count = 1, .step_size = eta, .splits_first = false},
                          point_,
                          state_.scratch(),
                          worker.scalars);
  if (splits) {
    worker.gradient.compute_half(t, point_, state_.scratch(), worker.scalars);
    worker.gradient.drop_half();
  }
  const auto gradient = worker.gradient.gradient();
  for (std::size_t i = 0; i < d_; ++i) {
    model[i] -= eta * static_cast<double>(gradient[i]);
  }
  worker.scalars.gradient_norm_sq = norm_sq<Real>(gradient);
}

/// Forms a^p and its message. If a^p is not finite, nothing is selected.
template <class Real>
void GossipLoop<Real>::compress(std::uint64_t t,
                                double eta,
                                std::size_t slot,
                                Worker<Real>& worker) {
  const std::span<Real> accumulator = worker.memory.accumulator_to_form();
  const auto& model = models_[slot];
  const auto& copy = copies_[static_cast<std::size_t>(worker.number)];
  for (std::size_t i = 0; i < d_; ++i) {
    const double known = rule_.differences ? static_cast<double>(copy[i]) : 0.0;
    accumulator[i] = static_cast<Real>(model[i] - known);
  }
  WorkerScalars& scalars = worker.scalars;
  scalars.accumulator_norm_sq = norm_sq<Real>(accumulator);
  if (!std::isfinite(scalars.gradient_norm_sq) || !std::isfinite(scalars.accumulator_norm_sq)) {
    return;
  }
  Message<Real>& message = messages_[slot];
  training_.method->compress(
      t,
      std::span<const Real>(accumulator),
      {.seed = training_.seed, .worker = worker.number, .iteration = t, .step_size = eta},
      state_.scratch().selection,
      message);
  scalars.nnz_sent = static_cast<double>(message.values_sent(d_));
  scalars.total_nnz += scalars.nnz_sent;
  if (training_.plan.measures(t)) {
    measure(slot, scalars, accumulator);
  }
}

template <class Real>
void GossipLoop<Real>::measure(std::size_t slot,
                               WorkerScalars& scalars,
                               std::span<const Real> accumulator) const {
  const Message<Real>& message = messages_[slot];
  if (message.everything) {
    scalars.sent_norm_sq = scalars.sent_dot = scalars.accumulator_norm_sq;
    return;
  }
  const auto& entries = message.entries;
  scalars.sent_norm_sq = norm_sq<Real>(entries.values);
  scalars.sent_dot = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    scalars.sent_dot += static_cast<double>(entries.values[i]) *
                        static_cast<double>(accumulator[entries.indices[i]]);
  }
}

/// Brings all public copies up to date. Every worker sends its message to each neighbour; where
/// several of them share a process, it travels there once, and is counted for each.
template <class Real>
void GossipLoop<Real>::exchange(Ledger& ledger) {
  for (int worker = 0; worker < cluster_.workers(); ++worker) {
    const std::size_t bytes =
        cluster_.here(worker) ? messages_[cluster_.slot(worker)].bytes(d_) : 0;
    const auto neighbours = rule_.mixing.graph().neighbours(worker);
    const auto behind = std::upper_bound(neighbours.begin(), neighbours.end(), worker);
    const auto charge = [&](int neighbour) { ledger.carry(worker, neighbour, bytes); };
    // Each begins with the neighbour behind it, so that not all send to the same one first.
    std::for_each(behind, neighbours.end(), charge);
    std::for_each(neighbours.begin(), behind, charge);
    if (cluster_.here(worker)) {
      publish(worker, cluster_.slot(worker));
    } else if (comes_here(worker)) {
      receive(worker, messages_.front().everything);  // the method decides it, for all workers
    }
  }
  exchanged_.traffic = ledger.traffic();  // the count of rounds stays 0: nobody waits for all
}

template <class Real>
void GossipLoop<Real>::publish(int worker, std::size_t slot) {
  const Message<Real>& message = messages_[slot];
  const std::span<Real> copy = copies_[static_cast<std::size_t>(worker)];
  const auto accumulator = state_.worker(worker).memory.accumulator();
  if (message.everything) {
    bring_up_to_date<Real>(copy, accumulator, rule_.differences);
    bytes_.resize(d_ * sizeof(Real));
    std::memcpy(bytes_.data(), accumulator.data(), bytes_.size());
  } else {
    add_entries(copy, message.entries);
    bytes_.resize(packed_bytes<Real>(message.entries.size()));
    pack(message.entries, bytes_.data());
  }
  pass(worker, bytes_.size());
}

template <class Real>
void GossipLoop<Real>::receive(int worker, bool everything) {
  const std::span<Real> copy = copies_[static_cast<std::size_t>(worker)];
  pass(worker, everything ? d_ * sizeof(Real) : packed_bytes<Real>(d_));
  if (everything) {
    point_.resize(d_);
    std::memcpy(point_.data(), bytes_.data(), bytes_.size());
    bring_up_to_date<Real>(copy, point_, rule_.differences);
  } else {
    unpack<Real>(bytes_, entries_);
    add_entries(copy, entries_);
  }
}

/// Makes w^p of x^p, and bounds the rounding error of the mean of the models: each sum below rounds
/// once per neighbour, and the half step and the mean round too, so that
/// |error| <= 2 (P + 4) u (|x^p| + |c^p| + mean |c^q|), u the unit roundoff of messages.
template <class Real>
void GossipLoop<Real>::mix(double eta, std::size_t slot, Worker<Real>& worker) {
  auto& model = models_[slot];
  const auto& own = copies_[static_cast<std::size_t>(worker.number)];
  if (training_.plan.measure) {
    constexpr auto kOfMessages = static_cast<double>(std::numeric_limits<Real>::epsilon());
    constexpr double kOfModels = std::numeric_limits<double>::epsilon();
    const double length = std::sqrt(norm_sq<double>(model)) + 2 * std::sqrt(norm_sq<Real>(own)) +
                          eta * std::sqrt(worker.scalars.gradient_norm_sq);
    worker.scalars.magnitude += 2 * kOfModels / kOfMessages * length;
  }
  const auto neighbours = rule_.mixing.graph().neighbours(worker.number);
  const auto weights = rule_.mixing.weights(worker.number);
  for (std::size_t at = 0; at < neighbours.size(); ++at) {
    const auto& copy = copies_[static_cast<std::size_t>(neighbours[at])];
    const double weight = rule_.step * weights[at];
    for (std::size_t i = 0; i < d_; ++i) {
      model[i] += weight * (static_cast<double>(copy[i]) - static_cast<double>(own[i]));
    }
  }
}

template <class Real>
void GossipLoop<Real>::take_mean() {
  const auto add = [&](int worker, std::size_t begin, std::span<double> block) {
    const std::span<const double> model = models_[cluster_.slot(worker)];
    add_to<double>(block, model.subspan(begin, block.size()));
  };
  cluster_.sum_in_worker_order(std::span(mean_), /*everywhere=*/true, add);
  for (double& value : mean_) {
    value /= cluster_.workers();
  }
}

template <class Real>
VersionNotes GossipLoop<Real>::notes_of(std::uint64_t t) const {
  const auto workers = static_cast<std::uint64_t>(cluster_.workers());
  VersionNotes notes;
  notes.contributions = workers;
  notes.total_contributions = (t + 1) * workers;
  if (training_.plan.measures(t)) {
    std::vector<double> mine;
    for (const auto& model : models_) {
      mine.push_back(distance_sq(model, mean_));
    }
    const auto all = cluster_.all_gather(mine);
    notes.consensus_sq =
        std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(workers);
  }
  return notes;
}

/// Returns whether what a worker of another process sends comes to this one.
template <class Real>
bool GossipLoop<Real>::comes_here(int worker) const {
  const auto& receivers = receivers_[static_cast<std::size_t>(worker)];
  return std::binary_search(receivers.begin(), receivers.end(), cluster_.world().rank());
}

/// Moves `bytes_` from the worker's process to those of its neighbours. All processes go through
/// the workers in order, so that nobody waits for one who waits for him.
template <class Real>
void GossipLoop<Real>::pass(int worker, std::size_t most_bytes) {
  World& world = cluster_.world();
  if (cluster_.here(worker)) {
    for (const int receiver : receivers_[static_cast<std::size_t>(worker)]) {
      world.send(receiver, bytes_);
    }
    return;
  }
  bytes_.resize(most_bytes);
  world.post(cluster_.host(worker), bytes_);
  bytes_.resize(world.take(cluster_.host(worker)));
}

template <class Real>
void GossipLoop<Real>::save_or_load(RunState& state) {
  if (time_) {
    time_->save_or_load(state);
  }
  if (real_time_) {
    real_time_->save_or_load(state);
  }
  state.workers<double>(d_, [&](std::size_t slot) { return std::span(models_[slot]); });
  if (!rule_.differences) {
    return;  // copies are made anew in each version
  }
  state.workers<Real>(d_, [&](std::size_t slot) {
    return std::span(copies_[static_cast<std::size_t>(cluster_.first()) + slot]);
  });
  if (state.loads()) {
    share_copies();
  }
}

/// Copies the public copies of the workers to the processes of their neighbours.
template <class Real>
void GossipLoop<Real>::share_copies() {
  for (int worker = 0; worker < cluster_.workers(); ++worker) {
    auto& copy = copies_[static_cast<std::size_t>(worker)];
    const std::size_t size = d_ * sizeof(Real);
    bytes_.resize(size);
    if (cluster_.here(worker)) {
      std::memcpy(bytes_.data(), copy.data(), size);
      pass(worker, size);
    } else if (comes_here(worker)) {
      pass(worker, size);
      std::memcpy(copy.data(), bytes_.data(), size);
    }
  }
}

template class GossipLoop<float>;
template class GossipLoop<double>;

}  // namespace residuum
