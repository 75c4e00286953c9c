#pragma once
// RunMaker makes one run from its settings to its folder, by a group of processes.

#include <functional>
#include <memory>
#include <optional>

#include "core/trainer/trainer.h"
#include "experiments/program/console/progress.h"
#include "experiments/program/runs/heartbeat.h"
#include "experiments/program/runs/loss_watch.h"
#include "experiments/program/runs/rank_log.h"
#include "experiments/program/runs/run_folder.h"
#include "experiments/program/study/run_config.h"

namespace residuum {

class RunMaker {
 public:
  struct Place {
    World& group;  // the processes that do one run together
    RankLog& log;
    ObjectiveCache& objectives;
    std::filesystem::path result_dir;
    nlohmann::json provenance;
    double checkpoint_every_s = 0;
    LossWatch* watch = nullptr;  // has a mailbox for messages where the study has real runs; null
                                 // where it can have none
  };
  explicit RunMaker(Place place) : place_(std::move(place)) {}

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

  Place place_;
  Heartbeat heartbeat_;  // of the run that this process is the root of
};

}  // namespace residuum
