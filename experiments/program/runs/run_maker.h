#pragma once
// RunMaker makes one run from its settings to its folder, by a group of processes.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "assumptions/monitor.h"
#include "core/cluster/cluster.h"
#include "core/cluster/message_queue.h"
#include "core/output_file.h"
#include "core/trainer/trainer.h"
#include "experiments/program/console/progress.h"
#include "experiments/program/runs/rank_log.h"
#include "experiments/program/runs/run_folder.h"
#include "experiments/program/study/run_config.h"

namespace residuum {

/// A heartbeat says in runs/<run_id>/heartbeat.json where a run is, for `residuum watch`: rows of
/// tables come in blocks, and pilot runs and evaluations write none. A thread of its own writes it,
/// so that an iteration costs one store.
class Heartbeat {
 public:
  /// The time between two heartbeats is at least a period, and at least a multiple of the seconds
  /// that the last one took. So heartbeats take at most 0.1 % of the time.
  struct Pace {
    std::chrono::milliseconds period{1000};
    int times = 1000;
  };

  Heartbeat() : Heartbeat(Pace{}) {}
  explicit Heartbeat(Pace pace) : pace_(pace) {}
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  Heartbeat(Heartbeat&&) = delete;
  Heartbeat& operator=(Heartbeat&&) = delete;
  ~Heartbeat() = default;

  /// Beats for a run from one period on, and removes what an earlier start has left. A beat that
  /// cannot be written is left out.
  void begin(const OutputPath& run_folder, std::uint64_t done);
  /// Ends the beats and removes the file.
  void end();

  /// Notes how many iterations the training has done. It may be called by any thread.
  void iteration(std::uint64_t done) { done_.store(done, std::memory_order_relaxed); }
  /// Notes how many iterations a pilot run has done, the first being 1; 0 for the training itself,
  /// which then goes on from `done`: its pace is counted from here.
  void pilot(int number, std::uint64_t done) {
    pilot_.store(number, std::memory_order_relaxed);
    iteration(done);
    if (number == 0) {
      resumed_at_.store(done, std::memory_order_relaxed);
      since_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;
  void beat(const std::stop_token& stop);
  void write(double every_s);

  Pace pace_;
  std::atomic<std::uint64_t> done_{0};
  std::atomic<int> pilot_{0};
  std::atomic<std::uint64_t> resumed_at_{0};  // iteration that this process began to train at
  std::atomic<Clock::rep> since_{0};          // when it did
  std::mutex mutex_;                          // guards what follows
  std::optional<OutputPath> file_;
  std::uint64_t begun_ = 0;  // counts the runs, so that a pause does not outlast its run
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last member: it ends before the others go
};

/// A LossWatch sees to it that a study over several processes ends when one of them is lost. Its
/// message queue gives signs of life from before the first run to after the last, also where
/// processes wait for each other in collective calls.
class LossWatch {
 public:
  /// The use of the message queue: messages of real runs, or only signs of life. Without messages
  /// it is polled seldom, and an MPI library that serves one thread alone has no watch.
  enum class Use { messages, signs };

  /// Watches the processes of a group, which is a part of the job. Collective in the group.
  LossWatch(const World& job, World& group, Use use);

  /// Returns the message queue between the processes of the group.
  MessageQueue& queue() { return *queue_; }
  /// Ends the watch; the job is ended where a process was lost before that. Collective.
  void close();
  /// Makes the message queue anew after an error that all processes of the group have met.
  /// Collective.
  void renew();

  /// Says where the workers of the run are, or that no run is being done.
  void set_cluster(const std::optional<Cluster>& cluster);

  /// Reports the lost process and the workers that it hosted, and ends the job: the others cannot
  /// use the World any more. The lowest process that is left reports; the others wait for it first.
  void end_job(const LostPeer& lost);

 private:
  void open();
  void say(const LostPeer& lost);

  World& group_;
  int first_rank_;  // of the group, in the job
  Use use_;
  std::vector<std::string> hosts_;  // by rank
  std::once_flag ending_;
  std::mutex mutex_;
  std::optional<Cluster> cluster_;
  std::unique_ptr<MessageQueue> queue_;
};

// RunCheckpoints keeps the checkpoints of one run on all its processes: the root has the files,
// every process its part of the state.

/// A RefusedCheckpoint says why the checkpoint that the run would go on from cannot be used. All
/// processes throw it; the run must then be prepared again, since its parts may hold the loaded
/// state.
class RefusedCheckpoint : public SharedError {
 public:
  using SharedError::SharedError;
};

class RunCheckpoints final : public Checkpoints {
 public:
  /// `on_root` is null on the other processes.
  RunCheckpoints(const Cluster& cluster, RunFolder* on_root, Monitor& monitor, double every_s)
      : cluster_(cluster), folder_(on_root), monitor_(monitor), every_s_(every_s) {}

  /// Throws a RefusedCheckpoint where the state is not one of this training.
  std::uint64_t load(const SaveOrLoad& state) override;
  bool due() override;
  void save(std::uint64_t iterations, const SaveOrLoad& state) override;

  /// Trains with these checkpoints. The study was checked before, so a usage error after a start
  /// from a checkpoint means that somebody has changed its state. If all processes meet the error,
  /// it is thrown as a RefusedCheckpoint. A process that meets it alone sets the checkpoint aside
  /// for the next start.
  Outcome guard(const std::function<Outcome()>& training);

 private:
  std::optional<Error> pass(StateStream* stream,
                            RunState::Direction direction,
                            const SaveOrLoad& state,
                            std::uint64_t iteration);
  void measure(const SaveOrLoad& state);
  bool is_of_state(const Error& error) const;
  void load_whole(const SaveOrLoad& state, std::uint64_t iteration);

  using Clock = std::chrono::steady_clock;

  const Cluster& cluster_;
  RunFolder* folder_;
  Monitor& monitor_;
  double every_s_;
  Clock::time_point saved_ = Clock::now();
  bool has_loaded_ = false;
};

class RunMaker {
 public:
  struct Setting {
    World& group;  // the processes that do one run together
    RankLog& log;
    ObjectiveCache& objectives;
    std::filesystem::path result_dir;
    nlohmann::json provenance;
    double checkpoint_every_s = 0;
    LossWatch* watch = nullptr;  // has a queue of messages where the study has real runs; null
                                 // where it can have none
  };
  explicit RunMaker(Setting setting) : setting_(std::move(setting)) {}

  /// Trains the run, from a checkpoint if there is one, and leaves its folder. Data other than
  /// those that it was `planned` with are a usage error. Collective in the group. `after_iteration`
  /// is called on the group's root.
  Outcome make(const RunSpec& spec,
               const PreparedRun& planned,
               const Study& study,
               Progress& progress,
               const std::function<void()>& after_iteration);

 private:
  Outcome attempt(const RunSpec& spec,
                  const PreparedRun& planned,
                  const Study& study,
                  Progress& progress,
                  const std::function<void()>& after_iteration,
                  std::unique_ptr<RunFolder>& folder);
  void in_step(const std::function<void()>& action);
  PreparedRun prepare_as_planned(const RunSpec& spec, const PreparedRun& planned) const;
  void check_data_at_end(const RunSpec& spec, const PreparedRun& run, const RunFolder* folder);
  Outcome train_really(Training& training, Monitor& monitor) const;
  void use_pilot(PreparedRun& run, RunFolder* folder);
  void start_processes(PreparedRun& run, const Cluster& cluster);
  std::unique_ptr<Device> place_memories(PreparedRun& run);

  Setting setting_;
  std::set<std::string> said_;  // why memories stay on the host
  Heartbeat heartbeat_;         // of the run that this process is the root of
};

}  // namespace residuum
