#pragma once
// An exchange results in the update, and in an outcome of each message.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/messages/message.h"
#include "core/messages/traffic.h"
#include "core/messages/transfers.h"
#include "core/vectors/candidates.h"

namespace residuum {

/// Used where g only approximates the sum of the accumulators a^p (PowerSGD). In `places`, which
/// increase, each worker is credited with g/P; elsewhere g is the sum, and all of its a^p is
/// applied.
template <class Real>
struct DenseApproximation {
  std::span<const Real> sum;  // g
  std::span<const Segment> places;
  int workers = 1;

  /// Calls take(i, value) with what is applied of each entry of this accumulator.
  template <class Take>
  void for_each(std::span<const Real> accumulator, const Take& take) const {
    const auto share = static_cast<Real>(workers);
    std::size_t i = 0;
    for (const auto& [begin, size] : places) {
      for (; i < begin; ++i) {
        take(i, accumulator[i]);
      }
      for (; i < begin + size; ++i) {
        take(i, sum[i] / share);
      }
    }
    for (; i < accumulator.size(); ++i) {
      take(i, accumulator[i]);
    }
  }
};

/// Says which part of one worker's message entered the update.
template <class Real>
struct MessageOutcome {
  const Message<Real>& sent;
  bool applied_whole = false;  // the message entered g as sent; the lists are then null
  const SparseVector<Real>* applied = nullptr;  // entries of a^p that g or a merge has used
  const SparseVector<Real>* dropped_in_merges = nullptr;  // entries that this worker's merges
                                                          // dropped although g has their index
  /// Set where g approximates the sum of whole accumulators; the lists are then null.
  std::optional<DenseApproximation<Real>> dense_approximation = std::nullopt;
};

/// Holds the update g (a SUM over workers) and the outcomes of the messages of this process's
/// workers. It is reused from exchange to exchange.
template <class Real>
struct ExchangeResult {
  bool is_dense = false;
  std::vector<Real> dense_sum;  // g, if dense
  SparseVector<Real> sum;       // g otherwise; the same on every process

  bool applied_whole = false;               // every message entered g as it was sent
  std::vector<SparseVector<Real>> applied;  // otherwise one per worker here, as in `MessageOutcome`
  std::vector<SparseVector<Real>> dropped_in_merges;  // one per worker here, as in `MessageOutcome`
  bool in_equal_parts = false;  // outcomes have a DenseApproximation with these places
  std::vector<Segment> equal_places;
  int workers = 1;  // P, where the parts are equal
  Traffic traffic;
  Transfers* transfers = nullptr;  // lists what was sent, where virtual clocks run

  MessageOutcome<Real> outcome(const Message<Real>& sent, std::size_t slot) const {
    if (applied_whole) {
      return {.sent = sent, .applied_whole = true};
    }
    if (in_equal_parts) {
      return {.sent = sent,
              .dense_approximation = DenseApproximation<Real>{
                  .sum = dense_sum, .places = equal_places, .workers = workers}};
    }
    return {.sent = sent,
            .applied_whole = false,
            .applied = &applied[slot],
            .dropped_in_merges = &dropped_in_merges[slot]};
  }
};

}  // namespace residuum
