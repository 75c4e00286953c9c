#pragma once
// The measurement compares what workers send with what they may send.

#include <optional>
#include <span>
#include <vector>

#include "core/quantisers/coded_message.h"
#include "core/training/method.h"
#include "core/training/worker_scalars.h"

namespace residuum {

/// Returns how many entries of every layer a worker may send, where layers are selected from
/// separately and the data do not decide.
inline std::vector<double> layer_counts(const Sparsifier& sparsifier) {
  std::vector<double> counts;
  for (std::size_t layer = 0; layer < sparsifier.segments().size(); ++layer) {
    if (const auto k = sparsifier.segment_k(layer)) {
      counts.push_back(static_cast<double>(*k));
    }
  }
  return counts;
}

/// Returns the bytes that a quantiser takes for as many values as the workers sent, of d numbers
/// each; absent without one.
template <class Real>
std::optional<double> bytes_of_codes(const Quantiser* quantiser,
                                     std::span<const WorkerScalars> workers,
                                     std::size_t d) {
  if (quantiser == nullptr) {
    return std::nullopt;
  }
  double bytes = 0;
  for (const auto& scalars : workers) {
    const auto values = static_cast<std::size_t>(scalars.nnz_sent);
    bytes += static_cast<double>(coded_bytes<Real>(*quantiser, values, d));
  }
  return bytes;
}

}  // namespace residuum
