#pragma once
// A carrier moves parcels between processes for a Mailbox and never waits. One implementation goes
// over MPI (mpi_mailbox.cc), one between the threads of a test.

#include <cstdint>
#include <optional>

#include "core/cluster/world.h"

namespace residuum {

/// A parcel is a letter of the mailbox's owner, or a notice between two mailboxes.
struct Parcel {
  enum class Kind : std::uint8_t {
    letter,     // bytes of the owner
    heartbeat,  // the sender is there; no bytes
    goodbye,    // the sender writes no more letters; no bytes
    loss,       // a process is lost: its rank, as std::int32_t
  };

  int peer = 0;  // to whom the parcel goes, or from whom it came
  Kind kind = Kind::letter;
  Bytes bytes;
};

/// A mailbox calls all members from one thread of its own, except rank() and size().
class Carrier {
 public:
  Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;
  Carrier(Carrier&&) = delete;
  Carrier& operator=(Carrier&&) = delete;
  virtual ~Carrier() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Begins to send. Parcels from one process to another arrive in the order they were sent.
  virtual void send(Parcel parcel) = 0;
  /// Returns the next parcel that has arrived, and moves on what is under way.
  virtual std::optional<Parcel> poll() = 0;
  /// Returns true if no memory is needed any more for what was sent.
  virtual bool has_sent_all() = 0;
};

}  // namespace residuum
