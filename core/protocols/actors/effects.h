#pragma once
// Effects tell a driver what the actors decide about gradients and models. The actors keep names
// and numbers of versions only; the driver computes gradients, keeps the sums of nodes and updates
// the model when it is told to. Calls come in the order of events, which a simulation repeats.
//
// Every gradient that is computed is handed in at most once, and either listed by exactly one
// version or discarded.

#include <cstdint>
#include <span>

#include "core/protocols/actors/actor_message.h"

namespace residuum {

/// A wait has one of these causes.
enum class Wait : std::uint8_t {
  quota,      // the server lacks contributions for a version (T1 of InHAD)
  staleness,  // InHAD: only T2 holds the server back; SSP: a worker may not start, n_p - min n > s
  pull,       // the server waits for the sums that it pulls
  idle,       // a worker has no gradient in progress: it waits for a model
};

class Effects {
 public:
  Effects() = default;
  Effects(const Effects&) = delete;
  Effects& operator=(const Effects&) = delete;
  Effects(Effects&&) = delete;
  Effects& operator=(Effects&&) = delete;
  virtual ~Effects() = default;

  /// A worker READs the model of version `gradient.base` and begins to compute on its next batch.
  virtual void compute(const GradientId& gradient) = 0;

  /// A worker has finished the gradient. It sends it to the server (node < 0), or adds it to the
  /// sum of its node.
  virtual void hand_in(const GradientId& gradient, int node) = 0;

  /// A node sends its sum, which is of these gradients, and goes on with an empty one. The next
  /// version lists the gradients of all nodes, node after node, each in this order.
  virtual void collect(int node, std::span<const GradientId> gradients) = 0;

  /// The server makes `version` (1, 2, ...) of these gradients, each of which counts once. Their
  /// staleness is version - 1 - base.
  virtual void make_version(std::uint64_t version, std::span<const GradientId> gradients) = 0;

  /// No version will list the gradient: it was finished or arrived after the last one.
  virtual void discard(const GradientId& gradient) = 0;

  /// A wait of one actor has ended after so many seconds of Outbox::now().
  virtual void waited(Wait cause, double seconds) = 0;

  /// Returns the bytes of what travels with a message that has_payload(). The call comes when the
  /// message is sent, for a sum after collect().
  virtual std::uint64_t payload_bytes(const ActorMessage& message) = 0;
};

}  // namespace residuum
