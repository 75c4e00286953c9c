#include "core/protocols/late_version.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/protocols/late_messages.h"
#include "core/protocols/protocol.h"

namespace residuum {
namespace {

/// Staleness beyond this shares the last place of the histogram.
constexpr std::uint64_t kMostStaleness = 4095;

}  // namespace

template <class Real>
LateVersion<Real>::LateVersion(const TrainingState<Real>& state, Weights weights)
    : training_(state.training()),
      cluster_(state.cluster()),
      d_(training_.objective->dimension()),
      weights_(weights),
      is_real_(protocol_law(training_).is_real),
      exchange_(state.aggregator().template exchange<Real>()),
      weight_given_(static_cast<std::size_t>(cluster_.workers())) {}

template <class Real>
std::unique_ptr<LateMessage<Real>> LateVersion<Real>::blank() {
  if (spare_.empty()) {
    return std::make_unique<LateMessage<Real>>();
  }
  auto late_message = std::move(spare_.back());
  spare_.pop_back();
  late_message->weight = 1;
  late_message->message.everything = false;
  late_message->message.entries.clear();
  late_message->message.coded.clear();
  late_message->accumulator.clear();
  late_message->weighed.clear();
  return late_message;
}

/// Sorts the late messages, and lists and weighs them.
template <class Real>
void LateVersion<Real>::take_in_order(LateMessages<Real> late_messages) {
  assert(made_of_.empty());  // a changed state may have a version of no gradients, which diverges
  made_of_ = std::move(late_messages);
  std::sort(made_of_.begin(), made_of_.end(), [](const auto& a, const auto& b) {
    return std::pair(a->worker, a->number) < std::pair(b->worker, b->number);
  });
  gradients_ += made_of_.size();
  parts_.divisor = static_cast<double>(made_of_.size());
  if (weights_ == Weights::per_worker) {
    weigh_workers_alike<Real>(made_of_);
    parts_.divisor = cluster_.workers();
  }
  late_messages_.clear();
  contributions_.clear();
  for (const auto& late_message : made_of_) {
    late_messages_.push_back(late_message.get());
    contributions_.push_back({.message = &late_message->message,
                              .accumulator = late_message->weighed.empty()
                                                 ? late_message->accumulator
                                                 : late_message->weighed});
  }
  parts_.late_messages = late_messages_;
}

/// Every process combines what it has of all workers.
template <class Real>
void LateVersion<Real>::combine(std::span<const Contribution<Real>> contributions) {
  exchange_->combine(Cluster(*alone_, static_cast<int>(contributions.size())),
                     {.dimension = d_, .k = d_, .of_workers = contributions},
                     exchanged_);
}

template <class Real>
LateUpdated<Real> LateVersion<Real>::make(LateComputed<Real>&& computed,
                                          LateMessages<Real> late_messages,
                                          const Traffic& traffic,
                                          std::span<const Contribution<Real>> sums) {
  take_in_order(std::move(late_messages));
  combine(sums.empty() ? std::span<const Contribution<Real>>(contributions_) : sums);
  exchanged_.traffic = traffic;
  return std::move(computed).update(exchanged_, parts_);
}

template <class Real>
LateUpdated<Real> LateVersion<Real>::make_round(LateComputed<Real>&& computed,
                                                LateMessages<Real> round,
                                                Transfers* transfers) {
  take_in_order(std::move(round));
  exchanged_.transfers = transfers;
  combine(contributions_);
  return std::move(computed).update(exchanged_, parts_);
}

template <class Real>
Traffic LateVersion<Real>::traffic_of(
    const SimulatedVersion& made,
    const Roster& roster,
    std::span<const std::unique_ptr<LateMessage<Real>>> late_messages) const {
  std::uint64_t up = made.bytes_up;
  std::uint64_t down = made.bytes_down;
  if (roster.nodes > 0) {
    const std::uint32_t per_node = roster.workers_of_node();
    down *= per_node;
    for (const auto& late_message : late_messages) {
      const bool is_first = static_cast<std::uint32_t>(late_message->worker) % per_node == 0;
      up += is_first ? 0 : bytes_of(*late_message);
    }
  }
  return {.bytes = up + down, .down = down, .rounds = 0};
}

/// Returns the bytes of a late message. A server may know no more of it than its number of entries;
/// then each counts with its index and value.
template <class Real>
std::uint64_t LateVersion<Real>::bytes_of(const LateMessage<Real>& late_message) const {
  const Message<Real>& message = late_message.message;
  const auto entries = static_cast<std::size_t>(late_message.scalars.nnz_sent);
  const bool is_named_only = message.entries.indices.empty() && message.coded.empty();
  return message.everything || !is_named_only
             ? message.bytes(d_)
             : index_bytes(message.form, entries, d_) + entries * sizeof(Real);
}

template <class Real>
void LateVersion<Real>::finish(LateUpdated<Real>&& updated,
                               const SimulatedVersion& made,
                               std::span<const WorkerScalars> of_workers) {
  parts_.notes = notes_of(made);
  parts_.of_workers = of_workers;
  show(std::move(updated));
}

/// No message between actors makes the version, and its time is that of the networks.
template <class Real>
void LateVersion<Real>::finish_round(LateUpdated<Real>&& updated, std::uint64_t version) {
  SimulatedVersion made;
  made.version = version;
  for (const LateMessage<Real>* message : late_messages_) {
    made.gradients.push_back({.worker = static_cast<ActorId>(message->worker),
                              .iteration = static_cast<std::uint32_t>(message->number),
                              .base = message->base});
  }
  parts_.notes = notes_of(made);
  parts_.notes.seconds = parts_.notes.version_seconds = std::nullopt;
  parts_.notes.control_bytes = std::nullopt;
  parts_.notes.waits = std::nullopt;
  show(std::move(updated));
}

template <class Real>
void LateVersion<Real>::show(LateUpdated<Real>&& updated) {
  std::move(updated).finish();
  std::move(made_of_.begin(), made_of_.end(), std::back_inserter(spare_));
  made_of_.clear();
}

template <class Real>
VersionNotes LateVersion<Real>::notes_of(const SimulatedVersion& made) {
  std::uint64_t sum = 0;
  std::uint64_t largest = 0;
  for (std::size_t i = 0; i < made.gradients.size(); ++i) {
    const std::uint64_t staleness = made.staleness(i);
    sum += staleness;
    largest = std::max(largest, staleness);
    const auto place = static_cast<std::size_t>(std::min(staleness, kMostStaleness));
    staleness_counts_.resize(std::max(staleness_counts_.size(), place + 1));
    ++staleness_counts_[place];
  }
  for (const LateMessage<Real>* late_message : late_messages_) {
    weight_given_[static_cast<std::size_t>(late_message->worker)] +=
        late_message->weight / parts_.divisor;
  }
  const auto count = static_cast<std::uint64_t>(made.gradients.size());
  VersionNotes notes{.contributions = count,
                     .total_contributions = gradients_,
                     .staleness_mean = static_cast<double>(sum) / static_cast<double>(count),
                     .staleness_max = largest,
                     .staleness_counts = staleness_counts_,
                     .control_bytes = made.control_bytes,
                     .seconds = std::nullopt,
                     .version_seconds = std::nullopt,
                     .waits = made.waits,
                     .weight_skew = std::nullopt,
                     .consensus_sq = std::nullopt};
  const double version_seconds = made.time - std::exchange(last_time_, made.time);
  if (is_real_) {
    notes.wall_s = made.time;
  } else {
    notes.seconds = made.time;
    notes.version_seconds = version_seconds;
  }
  if (training_.plan.measures(made.version - 1)) {
    const double mean = std::accumulate(weight_given_.begin(), weight_given_.end(), 0.0) /
                        static_cast<double>(weight_given_.size());
    notes.weight_skew = *std::max_element(weight_given_.begin(), weight_given_.end()) / mean;
  }
  return notes;
}

template <class Real>
void LateVersion<Real>::save_or_load(ActorState& state) {
  state.row(weight_given_);
  state.list(staleness_counts_);
  state.value(gradients_);
  state.value(last_time_);
}

template <class Real>
bool form_late_message(Worker<Real>& worker,
                       const typename WorkerMemory<Real>::Turn& turn,
                       bool measured,
                       ScratchBuffers<Real>& scratch,
                       LateMessage<Real>& late_message) {
  late_message.step_size = turn.step_size;
  const double magnitude_before = worker.scalars.magnitude;
  if (measured) {
    const auto residual = worker.memory.residual();
    late_message.residual_before.assign(residual.begin(), residual.end());
  }
  worker.memory.compress(turn, worker.gradient.gradient(), scratch, worker.scalars);
  if (!std::isfinite(worker.scalars.gradient_norm_sq) ||
      !std::isfinite(worker.scalars.accumulator_norm_sq)) {
    return false;
  }
  late_message.magnitude = worker.scalars.magnitude - magnitude_before;
  late_message.message = worker.memory.message();
  if (measured || late_message.message.everything) {
    const auto accumulator = worker.memory.accumulator();
    late_message.accumulator.assign(accumulator.begin(), accumulator.end());
  }
  if (measured) {
    worker.memory.measure(worker.scalars);
  }
  const MessageOutcome<Real> outcome{.sent = late_message.message, .applied_whole = true};
  worker.memory.update_residual(outcome, measured, scratch, worker.scalars);
  if (measured) {
    const auto gradient = worker.gradient.gradient();
    late_message.gradient.assign(gradient.begin(), gradient.end());
    const auto residual = worker.memory.residual();
    late_message.residual_after.assign(residual.begin(), residual.end());
    late_message.removed_everything = worker.memory.residual_update().removed_everything();
    late_message.scalars = worker.scalars;
  }
  return true;
}

template class LateVersion<float>;
template class LateVersion<double>;
template bool form_late_message(Worker<float>&,
                                const WorkerMemory<float>::Turn&,
                                bool,
                                ScratchBuffers<float>&,
                                LateMessage<float>&);
template bool form_late_message(Worker<double>&,
                                const WorkerMemory<double>::Turn&,
                                bool,
                                ScratchBuffers<double>&,
                                LateMessage<double>&);

}  // namespace residuum
