#include "core/trainer/run_state.h"

#include <algorithm>
#include <cassert>

namespace residuum {

void RunState::pass_root(std::span<std::byte> bytes) {
  if (is_root()) {
    stream_->pass(bytes);
  }
}

void RunState::pass_shared(std::span<std::byte> bytes) {
  pass_root(bytes);
  if (direction_ == Direction::load && cluster_.world().size() > 1) {
    Bytes copy(bytes.begin(), bytes.end());
    cluster_.world().broadcast(0, copy);
    std::copy(copy.begin(), copy.end(), bytes.begin());
  }
}

void RunState::pass_worker(int worker, std::span<std::byte> bytes, std::size_t size) {
  const bool here = cluster_.here(worker);
  const int host = cluster_.host(worker);
  assert(!here || bytes.size() == size);
  if (is_root() && here) {
    stream_->pass(bytes);
    return;
  }
  if (is_root()) {
    Bytes copy(size);
    if (direction_ == Direction::save) {
      copy = cluster_.world().receive(host);
    }
    stream_->pass(copy);
    if (direction_ == Direction::load) {
      cluster_.world().send(host, copy);
    }
    return;
  }
  if (!here) {
    return;
  }
  if (direction_ == Direction::save) {
    cluster_.world().send(0, bytes);
    return;
  }
  const Bytes copy = cluster_.world().receive(0);
  assert(copy.size() == size);
  std::copy(copy.begin(), copy.end(), bytes.begin());
}

}  // namespace residuum
