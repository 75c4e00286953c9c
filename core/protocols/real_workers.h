#pragma once
// RealWorkers are the workers and nodes of one process where a protocol runs on real processes
// (real_loop.h): the models that they read, the gradients that they compute and the messages that
// they send.
//
// A worker or node that sends to the server keeps its messages until it hears of a newer model,
// which was made of them. Messages that get into no version go back into the residuals.

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/protocols/actors/actor.h"
#include "core/protocols/late_messages.h"
#include "core/protocols/pace.h"
#include "core/protocols/training_state.h"

namespace residuum {

/// A version of the model, as it travels to workers.
template <class Real>
struct TravellingModel {
  std::uint64_t version = 0;
  double step_size = 0;
  std::vector<Real> numbers;
};

/// Why a worker stopped computing.
struct WorkerFailure {
  int worker = 0;
  std::string message;  // empty if its gradient or accumulator is not finite
};

/// An arrival comes to the server from one worker or node: a sum, or why there is none.
template <class Real>
struct Arrival {
  std::vector<GradientId> gradients;
  std::vector<std::uint64_t> entries;  // of each gradient's message
  std::optional<WorkerFailure> failure;
  double idle_s = 0;  // that workers of the same process were idle since its last arrival
  MessageSum<Real> sum;
};

/// Reads the arrival that was packed for these gradients, and returns the bytes of its numbers. One
/// that does not fit the model of the training is an Error.
template <class Real>
std::uint64_t unpack_arrival(std::span<const std::byte> bytes,
                             const Training& training,
                             Arrival<Real>& arrival);

template <class Real>
class RealWorkers {
 public:
  RealWorkers(TrainingState<Real>& state,
              const Roster& roster,
              Weights weights,
              std::optional<Pace> pace);

  /// Lets actors begin anew at w_t, which is their version 0.
  void begin_at(std::uint64_t t, TravellingModel<Real> model);

  /// From now on the worker uses the newest model that it has received.
  void read(const GradientId& gradient);
  /// Returns for how many seconds the gradient that was read for lasts at least, if it begins at
  /// `now` seconds of the run; 0 without a pace.
  double least_seconds(const GradientId& gradient, double now);
  /// Computes the gradient and forms its message. The compute thread calls this; errors are kept
  /// and travel in place of the message.
  void calculate(const GradientId& gradient);
  /// Sends the message to the server (node < 0) or adds it to those of its node.
  void hand_in(const GradientId& gradient, int node);
  /// Takes the messages of the node together; they are packed next.
  void collect(int node);
  /// Gives the message of a gradient back to the residual of its worker.
  void discard(const GradientId& gradient);

  /// Records that a worker was idle.
  void note_idle(double seconds) { idle_s_ += seconds; }
  /// Packs what a worker or node sends, and returns the bytes of its numbers.
  std::uint64_t pack_sent(ActorId from, Bytes& bytes);
  /// Takes a model that has arrived at a worker or node.
  void take(ActorId to, TravellingModel<Real> model);

  /// Saves or loads how many gradients each worker has begun. Collective.
  void save_or_load(RunState& state);

  /// Objectives serve one thread of a process at a time; who holds this may use one.
  std::mutex& computing() { return computing_; }

 private:
  using Messages = LateMessages<Real>;

  /// The compute thread leaves this for the thread of the actors.
  struct Ready {
    std::unique_ptr<LateMessage<Real>> message;
    std::optional<WorkerFailure> failure;  // there is then no message
  };

  std::size_t slot(std::uint32_t worker) const {
    return state_.cluster().slot(static_cast<int>(worker));
  }
  ActorId source_of(std::uint32_t worker) const;
  void make_message(const GradientId& gradient, LateMessage<Real>& late_message);

  TrainingState<Real>& state_;
  std::size_t d_;
  Roster roster_;
  Weights weights_;
  std::optional<Pace> pace_;
  std::uint64_t first_ = 0;  // the version at which the actors began
  double idle_s_ = 0;        // that the server has not heard of

  // By slot of the worker.
  std::vector<std::shared_ptr<const TravellingModel<Real>>> reading_;  // by its next gradient
  std::vector<Ready> ready_;                                           // its last gradient
  std::vector<std::uint64_t> numbers_;                // gradients that were begun so far
  std::vector<std::uint64_t> numbers_before_;         // before the actors began
  std::vector<std::optional<WorkerFailure>> broken_;  // for the compute thread alone

  // By actor: a worker that talks to the server itself, or a node.
  std::vector<std::shared_ptr<const TravellingModel<Real>>> models_;  // that arrived last
  std::vector<Messages> waiting_;                                     // to be collected
  std::vector<Messages> sent_;  // packed next, or on their way to the server
  std::vector<std::optional<WorkerFailure>> failures_;

  std::mutex computing_;
};

}  // namespace residuum
