#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/messages/wire.h"

namespace residuum {

/// A matrix is a part of the accumulator with rows * columns numbers, row after row.
struct MatrixPlace {
  std::size_t begin = 0;
  std::size_t rows = 0;
  std::size_t columns = 1;
};

/// Traffic is the cost of an exchange: the bytes that a worker or server sends to another, and the
/// messages on the critical path. It is counted per worker, even if two workers share a process. A
/// server is a machine of its own: the message of every worker to it counts, and the answer to
/// every worker. `bytes` is the part sent by the workers, or for them, by this process.
struct Traffic {
  std::uint64_t bytes = 0;
  std::uint64_t down = 0;  // of them, from a server
  std::uint64_t rounds = 0;
};

/// A model predicts the bytes by a formula. It is exact, or an upper bound if merged lists may be
/// shorter than k.
struct TrafficModel {
  double bytes = 0;
  bool exact = true;
};

/// A shape holds the sizes that a cost model depends on.
struct TrafficShape {
  int workers = 1;
  double entries = 0;           // in all messages together
  bool whole_messages = false;  // the messages are whole accumulators, which may have zeros
  double dimension = 0;         // d
  double k = 0;                 // entries of a k-sparse result
  double value_bytes = 4;       // per value on the wire
  /// The bytes of all messages together where they have a form of their own: that of a quantiser,
  /// or of indices that are not listed.
  std::optional<double> coded_bytes = std::nullopt;
  bool coded_bytes_are_exact = true;         // else they are a bound
  std::span<const MatrixPlace> layers = {};  // of the model; empty where it has no parts
  /// Returns the bytes of all messages together.
  double message_bytes() const {
    const bool have_all = whole_messages || entries == workers * dimension;
    return coded_bytes.value_or(entries * (have_all ? value_bytes : entry_bytes()));
  }
  double entry_bytes() const {
    const auto d = static_cast<std::size_t>(dimension);
    return static_cast<double>(value_bytes == sizeof(float) ? residuum::entry_bytes<float>(d)
                                                            : residuum::entry_bytes<double>(d));
  }
};

}  // namespace residuum
