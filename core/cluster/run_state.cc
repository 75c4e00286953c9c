#include "core/cluster/run_state.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

namespace residuum {

void StateStream::skip(std::uint64_t size) {
  std::array<std::byte, 4096> dropped{};
  while (size > 0) {
    const auto piece = std::min<std::uint64_t>(size, dropped.size());
    pass(std::span(dropped).first(static_cast<std::size_t>(piece)));
    size -= piece;
  }
}

void RunState::examine(const std::function<void()>& action) {
  if (!loads()) {
    action();
    return;
  }
  if (damage_) {
    return;
  }
  try {
    action();
  } catch (const Error& error) {
    damage_ = error;
  }
}

void RunState::pass_root(std::span<std::byte> bytes) {
  if (!is_root()) {
    return;
  }
  if (direction_ == Direction::measure) {
    stream_->skip(bytes.size());
    return;
  }
  examine([&] { stream_->pass(bytes); });
}

std::uint64_t RunState::root_count(std::uint64_t count) {
  if (saves()) {
    root(count);
    return count;
  }
  count = 0;
  if (is_root()) {
    examine([&] { stream_->pass(std::as_writable_bytes(std::span(&count, 1))); });
  }
  return damage_ ? 0 : count;
}

/// A count too large for any file stands for the end of this one.
void RunState::skip_numbers(std::uint64_t count, std::size_t size_of_one) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  if (is_root()) {
    stream_->skip(count > kMost / size_of_one ? kMost : count * size_of_one);
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
  if (direction_ == Direction::measure) {
    if (is_root()) {
      stream_->skip(size);
    }
    return;
  }
  const bool here = cluster_.here(worker);
  const int host = cluster_.host(worker);
  assert(!here || bytes.size() == size);
  if (is_root() && here) {
    pass_root(bytes);
    return;
  }
  if (is_root()) {
    Bytes copy(size);
    if (direction_ == Direction::save) {
      receive(host, copy);
    }
    pass_root(copy);
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
