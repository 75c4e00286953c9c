#pragma once
// A PacketTransport moves packets between processes for a Mailbox and never waits. One
// implementation goes over MPI (mpi_mailbox.cc), one between the threads of a test.

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/cluster/world.h"

namespace residuum {

/// A packet is a message of the mailbox's owner, or a notice between two mailboxes.
struct Packet {
  enum class Kind : std::uint8_t {
    message,    // bytes of the owner
    heartbeat,  // the sender is there; no bytes
    goodbye,    // the sender sends no more messages; no bytes
    loss,       // a process is lost: its rank, as std::int32_t
  };

  int peer = 0;  // to whom the packet goes, or from whom it came
  Kind kind = Kind::message;
  Bytes bytes;
};

/// A mailbox calls all members from one thread of its own, except rank() and size().
class PacketTransport {
 public:
  PacketTransport() = default;
  PacketTransport(const PacketTransport&) = delete;
  PacketTransport& operator=(const PacketTransport&) = delete;
  PacketTransport(PacketTransport&&) = delete;
  PacketTransport& operator=(PacketTransport&&) = delete;
  virtual ~PacketTransport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Begins to send. Packets from one process to another arrive in the order they were sent.
  virtual void send(Packet packet) = 0;
  /// Returns the next packet that has arrived, and moves on what is under way.
  virtual std::optional<Packet> poll() = 0;
  /// Returns how many packets that were sent still need memory here.
  virtual std::size_t unsent() = 0;
};

}  // namespace residuum
