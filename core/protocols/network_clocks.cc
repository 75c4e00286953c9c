#include "core/protocols/network_clocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace residuum {

NetworkClocks::NetworkClocks(NetworkModel network, MachineOptions machine, int workers)
    : network_(std::move(network)),
      machine_(std::move(machine), {.workers = static_cast<std::uint32_t>(workers)}),
      clocks_(static_cast<std::size_t>(workers)),
      work_(clocks_.size()),
      of_nodes_(clocks_.size()),
      of_workers_(clocks_.size()),
      busy_(5 * clocks_.size()),
      tree_(tree_rounds(workers)) {}

void NetworkClocks::compute(std::uint64_t first, std::uint64_t count) {
  for (std::size_t worker = 0; worker < workers(); ++worker) {
    for (std::uint64_t gradient = first; gradient < first + count; ++gradient) {
      clocks_[worker] =
          machine_.compute_end(static_cast<std::uint32_t>(worker), gradient, clocks_[worker]);
    }
  }
}

void NetworkClocks::wait(std::span<const double> seconds) {
  for (std::size_t worker = 0; worker < workers(); ++worker) {
    clocks_[worker] += seconds[worker];
  }
}

void NetworkClocks::exchange(const Transfers& transfers, bool with_work) {
  replay(transfers, with_work);
  require(std::isfinite(now()),
          "virtual time has grown beyond all numbers on network '{}'; choose a faster one",
          network_.name);
}

/// A worker that has all fractions behind it is at `local.selected`, in every bit.
void NetworkClocks::exchange_in_parts(std::span<const ExchangePart> parts,
                                      const LocalTimes& local,
                                      const Transfers& transfers,
                                      bool with_work) {
  clocks_ = local.began;
  for (const ExchangePart& part : parts) {
    for (std::size_t worker = 0; worker < workers(); ++worker) {
      const double of_gradient = local.computed[worker] - local.began[worker];
      const double of_selection = local.selected[worker] - local.computed[worker];
      const double is_left = (1 - part.ready) * of_gradient + (1 - part.selected) * of_selection;
      clocks_[worker] = std::max(clocks_[worker], local.selected[worker] - is_left);
    }
    share_ = part.share;
    exchange(transfers, with_work);
  }
  share_ = 1;
  for (std::size_t worker = 0; worker < workers(); ++worker) {
    clocks_[worker] = std::max(clocks_[worker], local.selected[worker]);
  }
}

double NetworkClocks::exchange_alone(const Transfers& transfers, bool with_work) {
  const auto make_idle = [this] {
    of_nodes_.assign(workers(), {});
    of_workers_.assign(workers(), {});
  };
  make_idle();
  std::fill(busy_.begin(), busy_.end(), 0);
  exchange(transfers, with_work);
  make_idle();
  return *std::max_element(busy_.begin(), busy_.end());
}

double NetworkClocks::seconds_of(double share, const Transfers& transfers, bool with_work) const {
  NetworkClocks at_rest = *this;
  at_rest.clocks_.assign(workers(), 0);
  at_rest.of_nodes_.assign(workers(), {});
  at_rest.of_workers_.assign(workers(), {});
  at_rest.share_ = share;
  at_rest.replay(transfers, with_work);
  return at_rest.now();
}

void NetworkClocks::replay(const Transfers& transfers, bool with_work) {
  for (const Transfer& step : transfers.steps()) {
    const auto from = static_cast<std::size_t>(step.from);
    const auto to = static_cast<std::size_t>(step.to);
    const auto amount = [&] { return transfers.amounts(step).front(); };
    switch (step.kind) {
      case Transfer::Kind::message:
        send(from, to, amount());
        break;
      case Transfer::Kind::end_round:
        end_round();
        break;
      case Transfer::Kind::work:
        work_[to] += with_work ? share_ * amount() : 0;
        break;
      case Transfer::Kind::work_all:
        for (double& seconds : work_) {
          seconds += with_work ? share_ * amount() : 0;
        }
        end_round();
        break;
      case Transfer::Kind::all_gather:
        gather(transfers.amounts(step, workers()));
        break;
      case Transfer::Kind::tree_up:
      case Transfer::Kind::tree_down:
        pass_tree(step.kind == Transfer::Kind::tree_up, amount());
        break;
      case Transfer::Kind::chain:
        pass_chain(amount());
        break;
      case Transfer::Kind::ring: {
        const auto per_node = static_cast<std::size_t>(step.per_node);
        pass_ring(transfers.amounts(step, workers() / per_node), per_node);
        break;
      }
      case Transfer::Kind::doubling:
        pass_doubling(amount());
        break;
    }
  }
  end_round();
}

double NetworkClocks::now() const { return *std::max_element(clocks_.begin(), clocks_.end()); }

void NetworkClocks::save_or_load(ActorState& state) {
  machine_.save_or_load(state);
  state.row(clocks_);
  for (auto* ports : {&of_nodes_, &of_workers_}) {
    for (Port& port : *ports) {
      state.value(port.sends_until);
      state.value(port.receives_until);
    }
  }
}

/// Sends a message in the round that is replayed. The sender goes on when its port has taken the
/// message; the port is busy.
void NetworkClocks::send(std::size_t from, std::size_t to, double bytes) {
  const auto per_node = static_cast<std::size_t>(network_.workers_per_node);
  const bool stays_in_node = from / per_node == to / per_node;
  const LinkModel& link = stays_in_node ? network_.within : network_.links;
  auto& ports = stays_in_node ? of_workers_ : of_nodes_;
  const std::size_t ports_of = stays_in_node ? 1 : per_node;
  const double busy = link.beta_s_per_byte * bytes * share_;
  const std::size_t row = stays_in_node ? 2 * workers() : 0;
  busy_[row + from / ports_of] += busy + link.gap_s;
  busy_[4 * workers() + from] += link.overhead_s;
  clocks_[from] += link.overhead_s;
  const double sent = ports[from / ports_of].send(clocks_[from], busy, link.gap_s);
  round_.push_back({.port = &ports[to / ports_of],
                    .place = row + workers() + to / ports_of,
                    .to = to,
                    .arrival = sent + link.alpha_s,
                    .busy = busy,
                    .link = &link});
}

/// Receives the messages of the round in the order in which they arrive at the ports; those that
/// arrive at the same time, in the order of the list.
void NetworkClocks::end_round() {
  const auto is_earlier = [](const Message& a, const Message& b) { return a.arrival < b.arrival; };
  if (!std::is_sorted(round_.begin(), round_.end(), is_earlier)) {
    std::stable_sort(round_.begin(), round_.end(), is_earlier);
  }
  for (const auto& [port, place, to, arrival, busy, link] : round_) {
    busy_[place] += busy + link->gap_s;
    busy_[4 * workers() + to] += link->overhead_s;
    const double received = port->receive(arrival, busy, link->gap_s);
    clocks_[to] = std::max(clocks_[to], received) + link->overhead_s;
  }
  round_.clear();
  for (std::size_t worker = 0; worker < workers(); ++worker) {
    busy_[4 * workers() + worker] += work_[worker];
    clocks_[worker] += std::exchange(work_[worker], 0);
  }
}

/// Replays Bruck's algorithm: in the round of `stride` each worker has its own list and those of
/// the stride - 1 workers behind it, and sends as many of them as are wanted to the worker `stride`
/// before it. All have all lists after ceil(log2 P) rounds, and each list has travelled P - 1
/// times.
void NetworkClocks::gather(std::span<const double> bytes) {
  const std::size_t count = workers();
  sums_.assign(1, 0);
  for (std::size_t i = 0; i < 2 * count; ++i) {
    sums_.push_back(sums_.back() + bytes[i % count]);
  }
  for (std::size_t stride = 1; stride < count; stride *= 2) {
    const std::size_t lists = std::min(stride, count - stride);
    for (std::size_t worker = 0; worker < count; ++worker) {
      send(worker, (worker + count - stride) % count, sums_[worker + lists] - sums_[worker]);
    }
    end_round();
  }
}

void NetworkClocks::pass_tree(bool is_up, double bytes) {
  for (std::size_t i = 0; i < tree_.size(); ++i) {
    for (const auto [below, above] : tree_[is_up ? i : tree_.size() - 1 - i]) {
      const auto from = static_cast<std::size_t>(is_up ? below : above);
      const auto to = static_cast<std::size_t>(is_up ? above : below);
      send(from, to, bytes);
    }
    end_round();
  }
}

void NetworkClocks::pass_chain(double bytes) {
  for (std::size_t worker = 0; worker + 1 < workers(); ++worker) {
    send(worker, worker + 1, bytes);
    end_round();
  }
  for (std::size_t worker = workers() - 1; worker > 0; --worker) {
    send(worker, worker - 1, bytes);
    end_round();
  }
}

/// Replays a ring all-reduce: for n nodes, node i sends the chunks i-1, i-2, ... to node i+1 in n-1
/// rounds, after which it has the whole sum of chunk i, and then the chunks i, i-1, ... in as many.
void NetworkClocks::pass_ring(std::span<const double> bytes, std::size_t per_node) {
  const std::size_t nodes = bytes.size();
  for (std::size_t round = 0; round + 1 < nodes; ++round) {
    for (std::size_t node = 0; node < nodes; ++node) {
      const std::size_t chunk = (node + 2 * nodes - 1 - round) % nodes;
      send(node * per_node, (node + 1) % nodes * per_node, bytes[chunk]);
    }
    end_round();
  }
  for (std::size_t round = 0; round + 1 < nodes; ++round) {
    for (std::size_t node = 0; node < nodes; ++node) {
      send(node * per_node, (node + 1) % nodes * per_node, bytes[(node + nodes - round) % nodes]);
    }
    end_round();
  }
}

void NetworkClocks::pass_doubling(double bytes) {
  const std::size_t whole = std::bit_floor(workers());
  for (std::size_t worker = whole; worker < workers(); ++worker) {
    send(worker, worker - whole, bytes);
  }
  end_round();
  for (std::size_t distance = 1; distance < whole; distance *= 2) {
    for (std::size_t worker = 0; worker < whole; ++worker) {
      send(worker, worker ^ distance, bytes);
    }
    end_round();
  }
  for (std::size_t worker = whole; worker < workers(); ++worker) {
    send(worker - whole, worker, bytes);
  }
  end_round();
}

namespace {

/// Puts the clocks of workers to the later of both times. A list that is empty is all 0.
void set_later(std::span<const double> a, std::span<const double> b, NetworkClocks& clocks) {
  std::vector<double> later(clocks.times().size());
  for (const auto times : {a, b}) {
    for (std::size_t worker = 0; worker < times.size(); ++worker) {
      later[worker] = std::max(later[worker], times[worker]);
    }
  }
  clocks.set_times(later);
}

}  // namespace

void LaggedTimes::begin_round(NetworkClocks& clocks) {
  set_later(last_message_, last_result_, clocks);
}

void LaggedTimes::compressed(const NetworkClocks& clocks) {
  last_message_.assign(clocks.times().begin(), clocks.times().end());
  messages_.push_back(last_message_);
}

void LaggedTimes::begin_exchange(NetworkClocks& clocks) {
  clocks.set_times(messages_.front());
  messages_.erase(messages_.begin());
}

void LaggedTimes::end_exchange(double busy, NetworkClocks& clocks) {
  for (double& time : last_result_) {
    time += busy;
  }
  set_later(clocks.times(), last_result_, clocks);
  last_result_.assign(clocks.times().begin(), clocks.times().end());
}

void LaggedTimes::save_or_load(ActorState& state, std::size_t workers) {
  state.list(messages_, [&](std::vector<double>& times) {
    state.numbers(times);
    check_saved(times.size() == workers);
  });
  for (auto* times : {&last_message_, &last_result_}) {
    state.numbers(*times);
    check_saved(times->empty() || times->size() == workers);
  }
}

}  // namespace residuum
