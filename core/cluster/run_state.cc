#include "core/cluster/run_state.h"

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

void RunState::receive(int from, std::span<std::byte> bytes) {
  cluster_.world().post(from, bytes);
  const std::size_t length = cluster_.world().take(from);
  assert(length == bytes.size());
  static_cast<void>(length);
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
      receive(host, copy);
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
  receive(0, bytes);
}

}  // namespace residuum
