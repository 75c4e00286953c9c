#pragma once
// A delivery is the result of one exchange: the update, and what became of each message.

#include <cstddef>
#include <vector>

#include "core/messages/message.h"
#include "core/messages/traffic.h"
#include "core/messages/transfers.h"

namespace residuum {

/// A fate says what became of one worker's message.
template <class Real>
struct Fate {
  const Message<Real>& sent;
  bool applied_whole = false;  // the message entered g as sent; the lists are then null
  const SparseVector<Real>* delivered = nullptr;      // the part of a^p that entered g or a merge
  const SparseVector<Real>* cut_in_merges = nullptr;  // partial sums that this worker's merges cut
                                                      // although their index is in g's support
};

/// Holds the update g (a SUM over workers) and the fates of the messages of this process's workers.
/// It is reused from exchange to exchange.
template <class Real>
struct Delivery {
  bool is_dense = false;
  std::vector<Real> dense_sum;  // g, if dense
  SparseVector<Real> sum;       // g otherwise; the same on every process

  bool applied_whole = false;                     // every message entered g as it was sent
  std::vector<SparseVector<Real>> delivered;      // otherwise one per worker here, as in `Fate`
  std::vector<SparseVector<Real>> cut_in_merges;  // one per worker here, as in `Fate`
  Traffic traffic;
  Transfers* transfers = nullptr;  // lists what was sent, where virtual clocks run

  Fate<Real> fate(const Message<Real>& sent, std::size_t slot) const {
    if (applied_whole) {
      return {.sent = sent, .applied_whole = true};
    }
    return {.sent = sent,
            .applied_whole = false,
            .delivered = &delivered[slot],
            .cut_in_merges = &cut_in_merges[slot]};
  }
};

}  // namespace residuum
