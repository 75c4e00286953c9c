#include "experiments/benchmarks/bench_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <unistd.h>
#include <vector>

#include "assumptions/monitor.h"
#include "core/config/amount.h"
#include "core/objective.h"
#include "experiments/program/runs/run_tables.h"
#include "experiments/program/study/study.h"
#include "objectives/data/catalogue.h"

namespace residuum {
namespace {

/// It counts the seconds spent in an objective; the rest of a training's time is the toolkit's. It
/// is for one thread. The objective must outlive it.
class ClockedObjective final : public Objective {
 public:
  explicit ClockedObjective(const Objective& objective) : objective_(objective) {}

  /// Seconds spent in gradients, evaluations and tests so far.
  double seconds() const { return seconds_; }

  std::size_t dimension() const override { return objective_.dimension(); }
  std::vector<Layer> layers() const override { return objective_.layers(); }
  std::size_t samples() const override { return objective_.samples(); }
  std::span<const std::int32_t> labels() const override { return objective_.labels(); }
  DataInfo data() const override { return objective_.data(); }
  Facts facts() const override { return objective_.facts(); }
  std::optional<double> shard_smoothness(std::span<const std::uint32_t> shard) const override {
    return objective_.shard_smoothness(shard);
  }
  std::optional<double> shard_strong_convexity(
      std::span<const std::uint32_t> shard) const override {
    return objective_.shard_strong_convexity(shard);
  }
  std::span<const std::uint32_t> evaluated() const override { return objective_.evaluated(); }
  std::size_t statistics() const override { return objective_.statistics(); }
  void initial_statistics(std::span<double> statistics) const override {
    objective_.initial_statistics(statistics);
  }
  void initial_point(std::uint64_t seed, std::span<double> w) const override {
    objective_.initial_point(seed, w);
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const float> w,
                           std::span<float> gradient) const override {
    clocked([&] { objective_.stochastic_gradient(draw, w, gradient); });
  }
  void stochastic_gradient(const Draw& draw,
                           std::span<const double> w,
                           std::span<double> gradient) const override {
    clocked([&] { objective_.stochastic_gradient(draw, w, gradient); });
  }
  double evaluate(int worker,
                  int workers,
                  std::span<const std::uint32_t> shard,
                  const Point& at,
                  std::span<double> gradient) const override {
    double value = 0;
    clocked([&] { value = objective_.evaluate(worker, workers, shard, at, gradient); });
    return value;
  }
  std::optional<TestResult> test(const Point& at) const override {
    std::optional<TestResult> result;
    clocked([&] { result = objective_.test(at); });
    return result;
  }

 private:
  template <class Work>
  void clocked(const Work& work) const {
    const auto before = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - before;
    seconds_ += spent.count();
  }

  const Objective& objective_;
  mutable double seconds_ = 0;
};

constexpr std::string_view kLogistic = R"(schema = 1
name = "bench"
seeds = 1
[objective]
kind = "logistic"
{}
[workers]
count = {}
batch = 32
[sparsifier]
kind = "top-k"
density = 0.1
[aggregator]
kind = "gtopk-tree"
[step]
value = 0.1
[budget]
iterations = {}
[probes]
{}
)";

}  // namespace

bool has_a9a(const Options& options) {
  const auto folder = data_directory(options.data_dir) / "a9a";
  constexpr std::array<const char*, 3> kNames{"a9a", "a9a.xz", "a9a.gz"};
  return std::any_of(kNames.begin(), kNames.end(), [&](const char* name) {
    return std::filesystem::exists(folder / name);
  });
}

std::string logistic_study(const Options& options, std::string_view probes) {
  const char* data = has_a9a(options)
                         ? "data = \"a9a\""
                         : "data = \"synthetic-logistic\"\nrows = 32561\nfeatures = 123";
  return fmt::format(fmt::runtime(kLogistic), data, kLogisticWorkers, kLogisticIterations, probes);
}

std::string logistic_data_name(const Options& options) {
  return has_a9a(options) ? "a9a" : "dense made data of a9a's size";
}

TimedTraining::TimedTraining(const std::string& study, const Options& options, Output output)
    : objectives_({.data_dir = data_directory(options.data_dir), .cache_dir = {}, .workers = 1}),
      world_(make_single_process()),
      output_(output) {
  const Study parsed = parse_study(study, "bench", {});
  KnownKeys known;
  run_ = prepare(parsed.runs.front(), objectives_, known);
  cluster_.emplace(*world_, run_.workers);
  run_.training.cluster = &*cluster_;
}

void TimedTraining::operator()() const {
  if (output_ == Output::nothing) {
    NoRecorder nothing;
    record(nothing);
    return;
  }
  const ScratchFolder folder;
  RunTables tables(folder.path(), "bench", {});
  record(tables);
  tables.close();
}

void TimedTraining::record(Recorder& recorder) const { record(run_, run_.training, recorder); }

void TimedTraining::record(const PreparedRun& run, const Training& training, Recorder& recorder) {
  Monitor monitor(
      make_probes(run.probes, "a benchmark"), recorder, [](std::uint64_t, std::uint64_t) {});
  train(training, monitor);
}

TimedTraining::Seconds TimedTraining::clock() const {
  const ClockedObjective objective(*run_.objective);
  Training training = run_.training;
  training.objective = &objective;
  const auto before = std::chrono::steady_clock::now();
  RecordFiles files;
  record(run_, training, files);
  files.close();
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - before;
  return {.all = all.count(), .outside = all.count() - objective.seconds()};
}

namespace {

/// Makes a folder of its own, under a name that nobody can foresee.
std::filesystem::path make_scratch_folder() {
  std::string name = std::filesystem::temp_directory_path() / "residuum-bench-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    resource_error("cannot make a folder in {}", std::filesystem::temp_directory_path().string());
  }
  return name;
}

}  // namespace

ScratchFolder::ScratchFolder() : path_(make_scratch_folder()) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

RecordFiles::RecordFiles()
    : iterations_(folder_.path() / "iterations.csv", "bench"),
      checks_(folder_.path() / "checks.csv", "bench") {}

void RecordFiles::write(const Row& row, const std::vector<Check>& checks) {
  iterations_.write(row);
  for (const auto& check : checks) {
    checks_.write(check);
  }
}

void RecordFiles::flush() {
  iterations_.flush();
  checks_.flush();
}

void RecordFiles::close() {
  iterations_.start_writing();
  checks_.start_writing();
  iterations_.close();
  checks_.close();
}

ErrorFeedbackCase::ErrorFeedbackCase(std::shared_ptr<const Gradients> gradients,
                                     double density,
                                     std::vector<Segment> layers,
                                     std::string_view kind)
    : gradients_(std::move(gradients)),
      segments_(std::move(layers)),
      memory_(gradients_->front().size()) {
  const nlohmann::json settings{
      {"kind", kind}, {"density", density}, {"scope", segments_.empty() ? "model" : "layer"}};
  const Section section("sparsifier", settings);
  sparsifier_ = make_sparsifier(section, segments_);
  feedback_ = make_feedback(Section("feedback", nlohmann::json{{"kind", "ef14"}}));
  if (segments_.empty()) {
    segments_.push_back({.begin = 0, .size = memory_.size()});
  }
  for (const auto& segment : segments_) {
    wanted_.push_back(Amount::from(section).resolve(segment.size));
  }
  workspace_.parts.resize(segments_.size());
  exchanged_.applied_whole = true;
}

void ErrorFeedbackCase::step() {
  feedback_->accumulate(std::span<float>(memory_),
                        gradient(),
                        1.0,
                        {.segments = segments_, .candidates = workspace_.parts});
  for (std::size_t s = 0; s < segments_.size(); ++s) {
    const Candidates& found = workspace_.parts[s];
    misses_ += found.complete && found.indices.size() >= wanted_[s] ? 0 : 1;
  }
  const SelectionContext context{.seed = 1, .worker = 0, .iteration = taken_, .step_size = 1};
  sparsifier_->select(std::span<const float>(memory_), context, workspace_, message_);
  feedback_->update_residual(
      std::span<float>(memory_), exchanged_.outcome(message_, 0), residual_update_);
  ++taken_;
}

void ErrorFeedbackCase::forget() {
  for (auto& part : workspace_.parts) {
    part.bound = 0;
  }
}

}  // namespace residuum
