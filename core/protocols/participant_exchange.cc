#include "core/protocols/participant_exchange.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace residuum {
namespace {

/// Copies numbers that only the process `from` knows how many there are of.
template <class T>
void share_numbers(World& world, int from, std::vector<T>& numbers) {
  std::uint64_t size = numbers.size();
  world.broadcast(from, std::as_writable_bytes(std::span(&size, 1)));
  numbers.resize(size);
  world.broadcast(from, std::as_writable_bytes(std::span(numbers)));
}

}  // namespace

template <class Real>
ParticipantExchange<Real>::ParticipantExchange(const Aggregator& aggregator,
                                               const Cluster& cluster,
                                               const Participants& participants)
    : cluster_(cluster),
      participants_(participants),
      exchange_(aggregator.template exchange<Real>()) {}

template <class Real>
void ParticipantExchange<Real>::combine(const Contributions<Real>& contributions,
                                        ExchangeResult<Real>& exchanged) {
  if (participants_.are_all()) {
    exchange_->combine(cluster_, contributions, exchanged);
    return;
  }
  find_hosts();
  if (is_host()) {
    World& world = world_ ? *world_ : cluster_.world();
    exchange_->combine(Cluster::with_blocks(world, begins_), contributions, exchanged);
  }
  if (hosts_.size() < static_cast<std::size_t>(cluster_.world().size())) {
    share(contributions, exchanged);
  }
}

template <class Real>
bool ParticipantExchange<Real>::is_host() const {
  return std::binary_search(hosts_.begin(), hosts_.end(), cluster_.world().rank());
}

template <class Real>
void ParticipantExchange<Real>::find_hosts() {
  hosts_.clear();
  begins_.clear();
  const auto numbers = participants_.numbers();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int host = cluster_.host(numbers[i]);
    if (hosts_.empty() || hosts_.back() != host) {
      hosts_.push_back(host);
      begins_.push_back(static_cast<int>(i));
    }
  }
  begins_.push_back(participants_.count());
  world_.reset();
  if (is_host() && hosts_.size() < static_cast<std::size_t>(cluster_.world().size())) {
    world_.emplace(cluster_.world(), hosts_);
  }
}

template <class Real>
void ParticipantExchange<Real>::share(const Contributions<Real>& contributions,
                                      ExchangeResult<Real>& exchanged) {
  share_sum(hosts_.front(), exchanged);
  share_memory(hosts_.front(), contributions);
}

/// Copies g, and by how many rounds it was made. The outcomes are those of workers that live
/// elsewhere.
template <class Real>
void ParticipantExchange<Real>::share_sum(int from, ExchangeResult<Real>& exchanged) const {
  World& world = cluster_.world();
  std::array<std::uint64_t, 2> head{exchanged.is_dense ? 1U : 0U, exchanged.traffic.rounds};
  world.broadcast(from, std::as_writable_bytes(std::span(head)));
  if (!is_host()) {
    exchanged.is_dense = head[0] != 0;
    exchanged.traffic = {.bytes = 0, .rounds = head[1]};
  }
  if (exchanged.is_dense) {
    share_numbers(world, from, exchanged.dense_sum);
    return;
  }
  share_numbers(world, from, exchanged.sum.indices);
  share_numbers(world, from, exchanged.sum.values);
}

/// Copies what the exchange keeps, by the list that checkpoints have of it.
template <class Real>
void ParticipantExchange<Real>::share_memory(int from, const Contributions<Real>& contributions) {
  const Cluster lone(*alone_, participants_.count());
  Bytes bytes;
  if (cluster_.world().rank() == from) {
    StateWriter writer(bytes);
    RunState state(lone, &writer, RunState::Direction::save);
    exchange_->save_or_load(lone, contributions, state);
  }
  broadcast(cluster_.world(), from, bytes);
  if (!is_host()) {
    StateReader reader(bytes);
    RunState state(lone, &reader, RunState::Direction::load);
    exchange_->save_or_load(lone, contributions, state);
    assert(!state.damage());
  }
}

template <class Real>
void ParticipantExchange<Real>::save_or_load(const Contributions<Real>& contributions,
                                             RunState& state) {
  // An exchange asks its cluster for the number of workers alone here.
  const Cluster lone(*alone_, participants_.count());
  exchange_->save_or_load(participants_.are_all() ? cluster_ : lone, contributions, state);
}

template class ParticipantExchange<float>;
template class ParticipantExchange<double>;

}  // namespace residuum
