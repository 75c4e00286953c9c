#pragma once

#include <cstddef>
#include <cstdint>

#include "core/messages/wire.h"

namespace residuum {

/// What an exchange costs: bytes that workers send to other workers, and messages on the critical
/// path. Counted per worker, also where two workers share a process; `bytes` is the part sent by
/// the workers of this process.
struct Traffic {
  std::uint64_t bytes = 0;
  std::uint64_t rounds = 0;
};

/// Bytes by a formula; exact, or an upper bound where merged lists may be shorter than k.
struct TrafficModel {
  double bytes = 0;
  bool exact = true;
};

/// The sizes that a cost model is made of.
struct TrafficShape {
  int workers = 1;
  double entries = 0;           // of all messages together
  bool whole_messages = false;  // the messages are whole accumulators, which may have zeros
  double dimension = 0;         // d
  double k = 0;                 // entries of a k-sparse result
  double value_bytes = 4;       // of one value on the wire
  double entry_bytes() const {
    const auto d = static_cast<std::size_t>(dimension);
    return static_cast<double>(value_bytes == sizeof(float) ? residuum::entry_bytes<float>(d)
                                                            : residuum::entry_bytes<double>(d));
  }
};

}  // namespace residuum
