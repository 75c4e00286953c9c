#pragma once
// Late messages (core/training/late_message.h) travel between processes, lie in checkpoints, are
// weighted and added up.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/cluster/run_state.h"
#include "core/protocols/actors/actor_state.h"
#include "core/quantisers/coded_message.h"
#include "core/training/late_message.h"

namespace residuum {

/// Late messages that were handed in, each with room that can serve another one.
template <class Real>
using LateMessages = std::vector<std::unique_ptr<LateMessage<Real>>>;

/// How to weigh several messages that one worker contributed to the same model version.
enum class Weights : std::uint8_t { plain, per_worker };

/// Saves or loads what other processes need of a late message; the measured parts only if
/// `measured`.
template <class Real>
void pass_late_message(LateMessage<Real>& late_message, bool measured, ActorState& state);

/// Copies a late message from the process of its worker to all others.
template <class Real>
void share_late_message(const Cluster& cluster, bool measured, LateMessage<Real>& late_message);

/// Which processes load what the root has saved.
enum class LoadedBy : std::uint8_t { root, all };

/// Saves the numbers of a protocol that the root has, or loads them. `pass` saves or loads them.
/// Collective.
void pass_of_root(const Cluster& cluster,
                  LoadedBy loaded_by,
                  const std::function<void(ActorState&)>& pass,
                  RunState& state);

/// Throws a usage error unless a late message that was loaded is one of a model of that dimension.
template <class Real>
void check_late_message(const LateMessage<Real>& late_message,
                        std::size_t dimension,
                        bool measured);

/// Gives each worker of a version the same weight. The late messages are in worker order. Messages
/// are scaled as their nodes would scale them before they add.
template <class Real>
void weigh_workers_alike(std::span<const std::unique_ptr<LateMessage<Real>>> late_messages);

/// A MessageSum travels from a worker or a node of real processes to the server. It is one message,
/// or the sum of the messages of a node's workers. It travels as a list, or as a whole vector where
/// that is shorter; a single message as its quantiser wrote it, or in the form of its indices where
/// they are not listed.
template <class Real>
struct MessageSum {
  Message<Real> message;
  std::vector<Real> whole;  // sum of the accumulators, where the messages are everything
};

/// Adds up messages on d numbers, in the order of workers and their gradients. With the weights
/// "per-worker" each worker of the sum has the same part in it.
template <class Real>
MessageSum<Real> sum_of(std::span<const std::unique_ptr<LateMessage<Real>>> messages,
                        Weights weights,
                        std::size_t d);

/// Appends the sum to `bytes` and returns the bytes of its numbers: one more tells its form.
template <class Real>
std::uint64_t pack_sum(const MessageSum<Real>& sum, std::size_t d, Bytes& bytes);

/// Reads a sum that fills `bytes`, and returns the bytes of its numbers. A sum that does not fit a
/// model of d numbers is an Error. A single message that was quantised or has a form of its own is
/// read by the quantiser, if any, in `sum.message.form` as `sum.message.coded_values` values.
template <class Real>
std::uint64_t unpack_sum(std::span<const std::byte> bytes,
                         std::size_t d,
                         const Coding& coding,
                         MessageSum<Real>& sum);

}  // namespace residuum
