#pragma once
// RunCheckpoints keeps the checkpoints of one run on all its processes: the root has the files,
// every process its part of the state.

#include <chrono>
#include <functional>
#include <optional>

#include "assumptions/monitor.h"
#include "experiments/program/runs/run_folder.h"

namespace residuum {

/// A RefusedCheckpoint says why the checkpoint that the run would go on from cannot be used. All
/// processes throw it; the run is then to be prepared again, since its parts may hold what was
/// loaded.
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
  std::uint64_t load(const Visit& state) override;
  bool due() override;
  void save(std::uint64_t iterations, const Visit& state) override;

  /// Trains with these checkpoints. What a study says was checked before, so that a usage error in
  /// training that has gone on from a checkpoint is one of its state, which somebody has changed.
  /// It is thrown as a RefusedCheckpoint where all processes meet it; one that meets it alone sets
  /// the checkpoint aside for the next start.
  Outcome guard(const std::function<Outcome()>& training);

 private:
  std::optional<Error> pass(StateStream* stream,
                            RunState::Direction direction,
                            const Visit& state,
                            std::uint64_t iteration);
  void measure(const Visit& state);
  bool is_of_state(const Error& error) const;
  void load_whole(const Visit& state, std::uint64_t iteration);

  using Clock = std::chrono::steady_clock;

  const Cluster& cluster_;
  RunFolder* folder_;
  Monitor& monitor_;
  double every_s_;
  Clock::time_point saved_ = Clock::now();
  bool has_loaded_ = false;
};

}  // namespace residuum
