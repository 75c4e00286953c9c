#include "core/trainer/run_state.h"

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
    cluster_.world().broadcast(0, bytes);
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
      cluster_.world().receive(host, copy);
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
  cluster_.world().receive(0, bytes);
}

}  // namespace residuum
