#pragma once
// RunCheckpoints keeps the checkpoints of one run on all its processes: the root has the files,
// every process its part of the state.

#include <chrono>

#include "assumptions/monitor.h"
#include "experiments/runs/run_folder.h"

namespace residuum {

class RunCheckpoints final : public Checkpoints {
 public:
  /// `on_root` is null on the other processes.
  RunCheckpoints(const Cluster& cluster, RunFolder* on_root, Monitor& monitor, double every_s)
      : cluster_(cluster), folder_(on_root), monitor_(monitor), every_s_(every_s) {}

  std::uint64_t load(const Visit& state) override;
  bool due() override;
  void save(std::uint64_t iterations, const Visit& state) override;

 private:
  void pass(StateStream* stream, RunState::Direction direction, const Visit& state);

  using Clock = std::chrono::steady_clock;

  const Cluster& cluster_;
  RunFolder* folder_;
  Monitor& monitor_;
  double every_s_;
  Clock::time_point saved_ = Clock::now();
};

}  // namespace residuum
