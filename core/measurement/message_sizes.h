#pragma once
// The measurement compares what workers send with what they may send.

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/quantisers/coded_message.h"
#include "core/training/late_message.h"
#include "core/training/method.h"
#include "core/training/participants.h"
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

/// Returns how many entries the workers, or the late messages of a version, sent together.
inline double entries_of(std::span<const WorkerScalars> workers) {
  double entries = 0;
  for (const auto& scalars : workers) {
    entries += scalars.nnz_sent;
  }
  return entries;
}
template <class Real>
double entries_of(const VersionParts<Real>& parts) {
  double entries = 0;
  for (const auto* late_message : parts.late_messages) {
    entries += late_message->scalars.nnz_sent;
  }
  return entries;
}

/// Returns the scalars of the workers that take part; none where all do.
inline std::vector<WorkerScalars> contributed_by(const Participants& participants,
                                                 std::span<const WorkerScalars> workers) {
  std::vector<WorkerScalars> contributed;
  for (const int worker :
       participants.are_all() ? std::span<const int>() : participants.numbers()) {
    contributed.push_back(workers[static_cast<std::size_t>(worker)]);
  }
  return contributed;
}

/// Returns the bytes of the workers' messages of this iteration, of d numbers each, by the number
/// of values, the form of their indices and the quantiser, or a bound where layers are quantised
/// one by one; absent where they are plain lists, none of all entries.
template <class Real>
std::optional<double> bytes_of_messages(const Method& method,
                                        std::uint64_t iteration,
                                        std::span<const WorkerScalars> workers,
                                        std::size_t d) {
  const IndexForm form = method.sparsifier_at(iteration).index_form(d);
  const Coding coding = method.coding();
  const bool any_is_whole = std::any_of(workers.begin(), workers.end(), [d](const auto& one) {
    return one.nnz_sent == static_cast<double>(d);
  });
  if (coding.quantiser == nullptr && form.kind == IndexForm::Kind::listed && !any_is_whole) {
    return std::nullopt;
  }
  double bytes = 0;
  for (const auto& scalars : workers) {
    const auto values = static_cast<std::size_t>(scalars.nnz_sent);
    bytes += static_cast<double>(coding.quantiser != nullptr
                                     ? most_coded_bytes<Real>(form, coding, values, d)
                                     : index_bytes(form, values, d) + values * sizeof(Real));
  }
  return bytes;
}

}  // namespace residuum
