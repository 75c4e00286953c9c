#pragma once
// Benchmarks of whole trainings need these: the study that is timed, and a run of it that can be
// repeated.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/feedback/feedback.h"
#include "core/sparsifiers/sparsifier.h"
#include "core/trainer/trainer.h"
#include "experiments/program/console/options.h"
#include "experiments/program/study/run_config.h"
#include "reports/results/csv.h"

namespace residuum {

inline constexpr int kLogisticWorkers = 4;
inline constexpr int kLogisticIterations = 20000;

/// Returns a study of logistic regression on a9a with gTop-k, with these lines in its section
/// [probes].
std::string logistic_study(const Options& options, std::string_view probes);

/// Returns whether the real a9a is there; the generated data that take its place are of its size,
/// but dense.
bool has_a9a(const Options& options);
std::string logistic_data_name(const Options& options);

/// Rows and checks of a run go to files, or are dropped.
enum class Output { files, nothing };

/// A prepared training that can be run again and again. Files go into a folder that goes with them.
class TimedTraining {
 public:
  TimedTraining(const std::string& study, const Options& options, Output output = Output::files);
  TimedTraining(const TimedTraining&) = delete;
  TimedTraining& operator=(const TimedTraining&) = delete;
  TimedTraining(TimedTraining&&) = delete;
  TimedTraining& operator=(TimedTraining&&) = delete;
  ~TimedTraining() = default;

  void operator()() const;

  /// Seconds of one run, and how many of them were not spent in the objective.
  struct Seconds {
    double all = 0;
    double outside = 0;
  };
  Seconds clock() const;

  /// Passes on what one run records.
  void record(Recorder& recorder) const;

 private:
  static void record(const PreparedRun& run, const Training& training, Recorder& recorder);

  ObjectiveCache objectives_;
  std::unique_ptr<World> world_;
  std::optional<Cluster> cluster_;
  PreparedRun run_;
  Output output_;
};

/// ScratchFolder is there as long as it lives.
class ScratchFolder {
 public:
  ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder(ScratchFolder&&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Writes the rows that a run writes, without the thread that a run has for it.
class RecordFiles final : public Recorder {
 public:
  RecordFiles();

  void write(const Row& row, const std::vector<Check>& checks) override;
  void flush();
  /// Waits for the disk, as a run does at its end.
  void close();

 private:
  ScratchFolder folder_;
  reports::IterationsWriter iterations_;
  reports::ChecksWriter checks_;
};

// ErrorFeedbackCase makes one worker's step of error feedback from the parts that a training is
// made of, on gradients that change from step to step.

class ErrorFeedbackCase {
 public:
  using Gradients = std::vector<std::vector<float>>;

  /// Selects by the sparsifier of this kind, in every one of the layers, k entries in proportion to
  /// their sizes.
  ErrorFeedbackCase(std::shared_ptr<const Gradients> gradients,
                    double density,
                    std::vector<Segment> layers = {},
                    std::string_view kind = "top-k");

  /// Accumulates, selects, and takes out the selected entries as if all were applied.
  void step();

  /// Forgets where the last cuts were.
  void forget();

  std::span<float> memory() { return memory_; }
  /// The gradient of the next step.
  std::span<const float> gradient() const { return (*gradients_)[taken_ % gradients_->size()]; }
  std::size_t k() const { return sparsifier_->k(memory_.size()).value(); }

  /// Counts the steps and segments in which candidates were too few.
  std::size_t misses() const { return misses_; }
  std::size_t selections() const { return taken_ * segments_.size(); }

 private:
  std::shared_ptr<const Gradients> gradients_;
  std::unique_ptr<Sparsifier> sparsifier_;
  std::unique_ptr<Feedback> feedback_;
  std::vector<Segment> segments_;
  std::vector<std::size_t> wanted_;  // per segment
  std::vector<float> memory_;
  SelectWorkspace workspace_;
  Message<float> message_;
  ExchangeResult<float> exchanged_;
  ResidualUpdate<float> residual_update_;
  std::size_t taken_ = 0;
  std::size_t misses_ = 0;
};

}  // namespace residuum
