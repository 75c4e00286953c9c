#pragma once
// A RealLoop trains with a protocol whose gradients may be late, over real processes: the root is
// the server, the others host the workers, and the actors of the protocol (actors/actor.h) talk by
// a message queue (actors/parallel.h). It makes versions as a LateLoop does, of messages that
// arrive when they arrive. So a run is not repeated in every bit, and times are those of the wall
// clock. If the study gives the seconds of a gradient, every gradient is made to last as long
// (pace.h).
//
// Between two versions that are measured, processes are out of step. At a measured one they meet,
// because f is evaluated on the data of all workers.
//
//   root       begin t --> serve messages -------> make t + 1 --> show --> begin t + 1 --> ...
//                 |            ^         |              |
//                 | meet       | s^p     | w_{t+1}      | (only where t is measured, all
//                 |            |         v              |  processes share w_t and evaluate f)
//   process    begin t --> compute G^p(w), compress, send, receive models ----------------> ...
//
// For a checkpoint, on request and after the last version, the run is halted: no message is under
// way, and each message that is in no version goes back into the residual of its worker. Then w_t
// and the residuals have all gradients that were computed, and actors may begin anew at w_t.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/protocols/actors/parallel.h"
#include "core/protocols/late_version.h"
#include "core/protocols/pace.h"
#include "core/protocols/protocol.h"
#include "core/protocols/real_time.h"
#include "core/protocols/real_workers.h"

namespace residuum {

template <class Real>
class RealLoop final : public Loop, private Effects, private Payloads {
 public:
  /// Makes the actors of a run of `versions` versions.
  using MakeCast = std::function<Cast(std::uint64_t versions)>;

  /// The cluster of the state has a server, and its training a message queue. With a pace gradients
  /// last as long as it says; else they take the time that they take.
  RealLoop(TrainingState<Real>& state,
           MakeCast make_cast,
           Weights weights,
           std::optional<Pace> pace = std::nullopt);

  StepEnd advance(std::uint64_t t) override;
  SpentSoFar spent() const override { return {.gradients = version_.gradients()}; }
  void save_or_load(RunState& state) override;

 private:
  using Model = TravellingModel<Real>;

  // The actors decide these; all but make_version come on the processes of workers and nodes.
  void compute(const GradientId& gradient) override { workers_.read(gradient); }
  void hand_in(const GradientId& gradient, int node) override { workers_.hand_in(gradient, node); }
  void collect(int node, std::span<const GradientId> /*gradients*/) override {
    workers_.collect(node);
  }
  void make_version(std::uint64_t version, std::span<const GradientId> gradients) override;
  void discard(const GradientId& gradient) override { workers_.discard(gradient); }
  void waited(Wait cause, double seconds) override;
  std::uint64_t payload_bytes(const ActorMessage& /*message*/) override { return 0; }

  std::uint64_t pack(const ActorMessage& message, ActorId to, Bytes& bytes) override;
  std::uint64_t unpack(const ActorMessage& message,
                       ActorId to,
                       std::span<const std::byte> bytes) override;
  void calculate(const GradientId& gradient) override { workers_.calculate(gradient); }
  double least_seconds(const GradientId& gradient) override {
    return workers_.least_seconds(gradient, clock_.now());
  }

  void begin_at(std::uint64_t t);
  bool stops() const;
  void share_first_model();
  bool is_spent() const { return is_root_ && training_.budget.is_spent(spent()); }
  static void pass_numbers(Model& model, ActorState& state);
  Placement placement() const;
  bool meet_or_look(std::uint64_t t);
  StepEnd halt(bool made);
  std::uint64_t take_arrival(const ActorMessage& message, std::span<const std::byte> bytes);
  void note_failure(const WorkerFailure& failure);
  void name_late_messages(const Arrival<Real>& arrival, LateMessages<Real>& late_messages);
  void take_newest_model(std::uint64_t version);
  void show();
  void note_known(const SimulatedVersion& made);
  void save_or_load_server(ActorState& state);

  TrainingState<Real>& state_;
  const Training& training_;
  const Cluster& cluster_;
  std::size_t d_;
  MakeCast make_cast_;
  Roster roster_;
  RealWorkers<Real> workers_;
  LateVersion<Real> version_;
  std::optional<LateIteration<Real>> iteration_;  // of the version in the making
  bool is_root_;

  // On the server.
  std::optional<LateUpdated<Real>> updated_;  // the version that is not shown yet
  Model newest_;
  std::vector<Arrival<Real>> arrived_;  // for the next version
  StepEnd found_;                       // why the run cannot go on
  std::optional<Error> failure_;        // of a process that computes
  std::vector<WorkerScalars> known_;    // of each worker
  /// Counts of before the run was last halted, and what workers say of their waits.
  SimulatedVersion carried_;
  WallClock clock_;  // the same on all processes once actors have begun
  std::atomic<bool> halts_ = false;

  std::uint64_t first_ = 0;             // the version at which the actors began
  std::unique_ptr<Parallel> parallel_;  // the last member, so that its thread ends first
};

}  // namespace residuum
