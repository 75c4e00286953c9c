#pragma once
// A LateVersion makes versions of the model of late messages: it weighs and adds up the messages,
// moves the model, and notes of what each version was made. A simulation and a server
// of real processes make versions with it in the same way.
//
// With the weights "per-worker", message i counts (b/M) / (messages of its worker in this version)
// times, M workers: each worker has the same part in w, however fast it is.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/protocols/actors/actor.h"
#include "core/protocols/actors/actor_state.h"
#include "core/protocols/actors/simulated_version.h"
#include "core/protocols/iteration.h"
#include "core/protocols/late_messages.h"

namespace residuum {

template <class Real>
class LateVersion {
 public:
  LateVersion(const TrainingState<Real>& state, Weights weights);

  /// Returns an empty late message, for which the room of an old one is used.
  std::unique_ptr<LateMessage<Real>> blank();
  /// Returns a late message, whose memory serves the next one.
  void drop(std::unique_ptr<LateMessage<Real>> late_message) {
    spare_.push_back(std::move(late_message));
  }

  /// Moves the model by these messages, in the order of workers and their gradients. If nodes have
  /// added the messages up, the late messages have no entries, and `sums` are those of the nodes.
  [[nodiscard]] LateUpdated<Real> make(LateComputed<Real>&& computed,
                                       LateMessages<Real> late_messages,
                                       const Traffic& traffic,
                                       std::span<const Contribution<Real>> sums = {});
  /// Does the same for a round, one message of every worker, which the aggregator exchanges. It has
  /// the traffic, and `transfers` lists it unless it is null.
  [[nodiscard]] LateUpdated<Real> make_round(LateComputed<Real>&& computed,
                                             LateMessages<Real> round,
                                             Transfers* transfers);
  /// Shows the version and forgets its late messages. `of_workers` has the measured values of all
  /// workers if the root hosts none (VersionParts).
  void finish(LateUpdated<Real>&& updated,
              const SimulatedVersion& made,
              std::span<const WorkerScalars> of_workers = {});
  /// Does the same for a version of this number that was made of a round.
  void finish_round(LateUpdated<Real>&& updated, std::uint64_t version);

  /// Returns the traffic of a version that is made of these messages: the payloads that `made`
  /// counts between nodes and the server, and those inside nodes. A node's sum and model live with
  /// its first worker: its other workers hand in messages of their own, and take a copy of each
  /// model.
  Traffic traffic_of(const SimulatedVersion& made,
                     const Roster& roster,
                     std::span<const std::unique_ptr<LateMessage<Real>>> late_messages) const;

  /// Returns the late messages of the version that was made and not finished yet, in order.
  std::span<const std::unique_ptr<LateMessage<Real>>> late_messages() const { return made_of_; }
  /// Returns the gradients in all versions so far.
  std::uint64_t gradients() const { return gradients_; }

  /// Saves or loads the state that carries over to the next version.
  void save_or_load(ActorState& state);

 private:
  void take_in_order(LateMessages<Real> late_messages);
  void combine(std::span<const Contribution<Real>> contributions);
  void show(LateUpdated<Real>&& updated);
  std::uint64_t bytes_of(const LateMessage<Real>& late_message) const;
  VersionNotes notes_of(const SimulatedVersion& made);

  const Training& training_;
  const Cluster& cluster_;
  std::size_t d_;
  Weights weights_;
  bool is_real_;  // times are those of the wall clock
  std::unique_ptr<World> alone_ = make_single_process();
  std::unique_ptr<Exchange<Real>> exchange_;
  ExchangeResult<Real> exchanged_;

  LateMessages<Real> made_of_;  // of the version that is not finished yet
  LateMessages<Real> spare_;    // to be used again
  std::vector<const LateMessage<Real>*> late_messages_;
  std::vector<Contribution<Real>> contributions_;
  VersionParts<Real> parts_;

  std::uint64_t gradients_ = 0;                  // in all versions so far
  double last_time_ = 0;                         // of the version before
  std::vector<double> weight_given_;             // to each worker, in all versions so far
  std::vector<std::uint64_t> staleness_counts_;  // gradients so far, by staleness
};

/// Lets a worker of this process form its message from the gradient that it has, and
/// updates the residual at once: the late message has the message from then on. Returns false if
/// the gradient or the accumulator is not finite; then the late message has no message. The
/// measured values are kept if `measured`.
template <class Real>
bool form_late_message(Worker<Real>& worker,
                       const typename WorkerMemory<Real>::Turn& turn,
                       bool measured,
                       ScratchBuffers<Real>& scratch,
                       LateMessage<Real>& late_message);

}  // namespace residuum
