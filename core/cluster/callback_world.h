#pragma once
// A callback world is a group of processes whose messages somebody else carries: two functions send
// and receive bytes. Its collective calls are made of messages, in the order of the processes.

#include <functional>
#include <memory>
#include <span>

#include "core/cluster/world.h"

namespace residuum {

/// These functions carry bytes between the processes; both throw an Error if that fails. Messages
/// from one process to another arrive in the order they were sent.
struct Transport {
  int rank = 0;
  int size = 1;
  /// Hands over a message. It must not wait until the other process receives it: two processes may
  /// send to each other before either receives.
  std::function<void(int to, std::span<const std::byte> bytes)> send;
  /// Waits for the next message from process `from`, which has exactly as many bytes as `bytes`.
  std::function<void(int from, std::span<std::byte> bytes)> receive;
};

/// Makes the world of all processes of the transport. After an Error of a function every further
/// call throws the same Error at once, so that nobody waits for what cannot come.
std::unique_ptr<World> make_callback_world(Transport transport);

}  // namespace residuum
