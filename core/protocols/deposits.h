#pragma once
// Deposits (core/training/deposit.h) travel between processes, lie in checkpoints and are weighted.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/protocols/actors/actor_state.h"
#include "core/training/deposit.h"

namespace residuum {

/// How much a message counts that has others of its worker beside it in its version.
enum class Weights : std::uint8_t { plain, per_worker };

/// Passes everything that other processes need of a deposit; the measured parts only if `measured`.
template <class Real>
void pass_deposit(Deposit<Real>& deposit, bool measured, ActorState& state);

/// Throws a usage error unless a deposit that was loaded is one of a model of that dimension.
template <class Real>
void check_deposit(const Deposit<Real>& deposit, std::size_t dimension, bool measured);

/// Gives each worker of a version the same weight. The deposits are in worker order. Messages are
/// scaled as their nodes would scale them before they add.
template <class Real>
void weigh_workers_alike(std::span<const std::unique_ptr<Deposit<Real>>> deposits);

}  // namespace residuum
