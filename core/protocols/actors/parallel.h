#pragma once
// Parallel runs the actors of an asynchronous protocol on real processes, each of which hosts some
// of them (Placement). Messages travel by a MessageQueue; gradients are computed by one thread of
// each process, so that messages are served meanwhile.
//
//   Parallel run(make_inhad(options), placement, queue, site, [&] { return stop.load(); });
//   for (v = 1; v <= T && run.advance_to(v); ++v) {
//     // Collective calls of the World may stand here.
//   }
//   run.finish();
//   queue.close();
//
// How it ends: after the last version, or on request (`stops`), every gradient is in a version or
// is discarded, and no message is under way. If a process is lost, every other throws a LostPeer
// (core/cluster/message_queue.h) and must not wait for it anywhere. If an Error is thrown on one
// process, by Effects or Payloads, every process throws it as a SharedError; after that only the
// message queue's close() may follow.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "core/cluster/message_queue.h"
#include "core/cluster/world.h"
#include "core/protocols/actors/actor.h"
#include "core/protocols/actors/actor_message.h"
#include "core/protocols/actors/simulated_version.h"

namespace residuum {

/// A placement says which process hosts each actor of a run over real processes. A node and its
/// workers share memory, so they have the same host.
struct Placement {
  std::vector<int> hosts;  // rank, by ActorId

  int host(ActorId actor) const { return hosts[actor]; }
};

/// Payloads moves the numbers that the actors' messages only name, where a protocol runs on real
/// processes. Each process has one such object, beside its Effects. The object holds the models
/// that its workers compute at, their gradients and the sums of its nodes, and on the server's
/// process the model.
///
/// One gradient goes through these steps, each on the process beside it:
///   Effects::compute       worker's process  the gradient is to be taken at version `base`, also
///                                            when a newer one arrives
///   least_seconds          worker's process  of Payloads: how long it is to last, from now
///   Payloads::calculate    compute thread    the gradient is computed at that model
///   Effects::hand_in       worker's process  it is sent (node < 0) or added to its node's sum
///   Effects::collect       node's process    the sum that is about to be packed is set aside
///   Payloads::pack, unpack both ends         the gradient (push) or the sum (sum) travels
///   Effects::make_version  server's process  what was unpacked and is listed makes the version
///   Effects::discard       worker's process  no version lists it; see Parallel::finish
///
/// All calls but `calculate` come from the thread that calls Parallel, one at a time.
class Payloads {
 public:
  Payloads() = default;
  Payloads(const Payloads&) = delete;
  Payloads& operator=(const Payloads&) = delete;
  Payloads(Payloads&&) = delete;
  Payloads& operator=(Payloads&&) = delete;
  virtual ~Payloads() = default;

  /// Appends the payload of a message that has_payload() to `bytes`; the message goes to an actor,
  /// possibly one of the same process. The payload is the model of message.version, the gradient of
  /// worker message.from, or the sum that node message.from has collected last. Returns how many of
  /// the bytes are its numbers; the others count as control bytes.
  virtual std::uint64_t pack(const ActorMessage& message, ActorId to, Bytes& bytes) = 0;

  /// Takes the payload of a message before the actor receives the message, and returns the same
  /// count. The bytes come from another process and must be checked.
  virtual std::uint64_t unpack(const ActorMessage& message,
                               ActorId to,
                               std::span<const std::byte> bytes) = 0;

  /// Computes the gradient, on the compute thread of this process, in the order of
  /// Effects::compute. An Error that it throws ends the run on all processes.
  virtual void calculate(const GradientId& gradient) = 0;

  /// Returns for how many seconds the gradient lasts at least, which begins now: it is handed in no
  /// earlier, unless the run ends. Several workers of a process may wait at a time.
  virtual double least_seconds(const GradientId& /*gradient*/) { return 0; }
};

/// A compute thread does jobs one after the other, in the order in which they are given or, for
/// those with a time, once that has come.
class ComputeThread {
 public:
  using Clock = std::chrono::steady_clock;

  ComputeThread();
  ComputeThread(const ComputeThread&) = delete;
  ComputeThread& operator=(const ComputeThread&) = delete;
  ComputeThread(ComputeThread&&) = delete;
  ComputeThread& operator=(ComputeThread&&) = delete;
  /// Waits for the job that is being done and drops the others.
  ~ComputeThread();

  /// Gives the thread a job, which must not throw, and returns at once.
  void add(std::function<void()> job);
  /// Gives the thread a job for this time.
  void add_at(Clock::time_point time, std::function<void()> job);
  /// From now on no job waits for its time.
  void hurry();

 private:
  using Job = std::function<void()>;

  void work();
  std::optional<Job> next_job();
  void wait(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  std::multimap<Clock::time_point, Job> later_;
  bool hurries_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

/// The callbacks by which actors use the training on one process.
struct Site {
  Effects& effects;  // payload_bytes() is not called: what Payloads packs is counted
  Payloads& payloads;
};

class Parallel final : private ActorContext {
 public:
  /// All processes give the same cast and placement. The arguments that are references must outlive
  /// this object. `stops` may become true at any time on any process, and be empty.
  Parallel(Cast cast,
           Placement placement,
           MessageQueue& queue,
           Site site,
           std::function<bool()> stops = {});
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  Parallel(Parallel&&) = delete;
  Parallel& operator=(Parallel&&) = delete;
  /// Waits for the gradient that is being computed.
  ~Parallel() override;

  /// Serves messages until the server has made `version`, and returns true; on the server's process
  /// right after Effects::make_version. Returns false if the run was stopped before that, within
  /// 50 ms of a request. All processes ask for the same versions in the same order. Gradients go
  /// on being computed between two calls.
  bool advance_to(std::uint64_t version);

  /// Ends the run, at once if versions are still to be made. It waits for the gradients that are
  /// being computed and for all messages, then discards, once none is computed any more, the
  /// gradients that are in no version, each on the process of its worker. The call is collective.
  void finish();

  /// Returns the versions that are made, as far as this process has heard.
  std::uint64_t made() const { return made_; }

  /// Returns the notes about what happened on this process since the last call, and begins new
  /// ones; their time is now, in seconds since this object was made. On the server's process they
  /// have the last version and the bytes of all messages.
  SimulatedVersion take_notes();

 private:
  /// Forwards the effects, but keeps discarded gradients until no gradient is being computed, and
  /// remembers which gradient is to be computed next.
  class HeldEffects;
  enum class Frame : std::uint64_t;

  // Acts: what an actor may do.
  void send(ActorId to, ActorMessage message) override;
  void work(Work kind, ActorMessage when_done) override;
  double now() const override;
  Effects& effects() override { return log_; }

  bool is_here(ActorId actor) const { return placement_.host(actor) == queue_.rank(); }
  bool is_server() const { return is_here(cast_.roster.server()); }
  bool is_idle() const { return own_messages_ == 0; }

  static Bytes begin_frame(Frame kind);
  void guard(const std::function<void()>& action);
  void begin();
  void serve_once();
  void open(const Incoming& incoming);
  void deliver(int from, std::span<const std::byte> bytes);
  void count(const ActorMessage& message, std::uint64_t numbers, std::uint64_t appended);
  void let_act(ActorId actor, const ActorMessage& message);
  [[noreturn]] static void throw_failure(std::span<const std::byte> bytes);
  void take_discarded(std::span<const std::byte> bytes);
  void heed_stop();
  void end();
  void send_discarded();
  void compute(const GradientId& gradient,
               const ActorMessage& when_done,
               std::optional<ComputeThread::Clock::time_point> ready);
  void send_to_others(const Bytes& frame);
  void tell_failure(ExitCode code, std::string_view message);

  Cast cast_;
  Placement placement_;
  MessageQueue& queue_;
  Site site_;
  std::function<bool()> stops_;
  std::unique_ptr<HeldEffects> held_;
  VersionLog log_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();

  ActorId acting_ = 0;
  std::uint64_t made_ = 0;
  std::uint64_t own_messages_ = 0;  // under way from this process to itself, or to be sent by work
  int quiet_ = 0;                   // processes that will send no more messages to the server
  bool has_begun_ = false;
  bool has_asked_ = false;  // the server to stop
  bool has_ended_ = false;  // no version will follow
  bool is_over_ = false;    // the server has all messages

  std::mutex mutex_;
  std::exception_ptr failure_;  // of the compute thread
  ComputeThread thread_;        // the last member, so that it ends first
};

}  // namespace residuum
