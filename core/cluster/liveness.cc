#include "core/cluster/liveness.h"

#include <algorithm>

namespace residuum {

Liveness::Liveness(int rank, int size, std::chrono::milliseconds patience, Time now)
    : patience_(patience),
      period_(Clock::duration(patience) / kSigns),
      now_(now),
      rank_(rank),
      peers_(static_cast<std::size_t>(size), Peer{.heard = now, .written = now}) {
  leave(rank);
}

void Liveness::look(Time now) {
  const Clock::duration pause = now - now_;
  now_ = now;
  if (pause > period_) {
    for (Peer& peer : peers_) {
      peer.heard += pause - period_;
    }
  }
}

void Liveness::hear(int from) { peers_[static_cast<std::size_t>(from)].heard = now_; }

void Liveness::write(int to) { peers_[static_cast<std::size_t>(to)].written = now_; }

void Liveness::leave(int peer) { peers_[static_cast<std::size_t>(peer)].has_left = true; }

bool Liveness::owes_sign(int to) const {
  const Time written = peers_[static_cast<std::size_t>(to)].written;
  return to != rank_ && !says_nothing_ && now_ - written >= period_;
}

std::optional<int> Liveness::lost() const {
  std::optional<int> longest;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    const Peer& peer = peers_[rank];
    const bool is_silent = !peer.has_left && now_ - peer.heard >= patience_;
    if (is_silent && (!longest || peer.heard < peers_[static_cast<std::size_t>(*longest)].heard)) {
      longest = static_cast<int>(rank);
    }
  }
  return longest;
}

bool Liveness::have_all_left() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const Peer& peer) { return peer.has_left; });
}

}  // namespace residuum
