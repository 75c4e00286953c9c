#pragma once
// Late messages (core/training/late_message.h) travel between processes, lie in checkpoints and are
// weighted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/protocols/actors/actor_state.h"
#include "core/training/late_message.h"

namespace residuum {

/// How to weigh several messages that one worker contributed to the same model version.
enum class Weights : std::uint8_t { plain, per_worker };

/// Saves or loads what other processes need of a late message; the measured parts only if
/// `measured`.
template <class Real>
void pass_late_message(LateMessage<Real>& late_message, bool measured, ActorState& state);

/// Throws a usage error unless a late message that was loaded is one of a model of that dimension.
template <class Real>
void check_late_message(const LateMessage<Real>& late_message,
                        std::size_t dimension,
                        bool measured);

/// Gives each worker of a version the same weight. The late messages are in worker order. Messages
/// are scaled as their nodes would scale them before they add.
template <class Real>
void weigh_workers_alike(std::span<const std::unique_ptr<LateMessage<Real>>> late_messages);

}  // namespace residuum
