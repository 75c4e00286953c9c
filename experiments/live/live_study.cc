// How a step is done. Each run of the study has a thread, in which it is made as by `residuum run`
// until it asks for its next gradients. One more thread, the conductor, lets the runs go on in
// their order, one at a time: a run goes on only while it has the turn, and gives it back when it
// waits for gradients again or has ended. So messages between the processes come in one order
// everywhere, and nothing of the runs needs to be safe for threads.
//
//   training        step(t)              step(t+1)
//                      | hands over         | waits for the conductor, hands over
//   conductor          run 1, run 2, .., run n, rests
//   run i              ...await() | iteration t | await()...

#include "experiments/live/live_study.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "core/gradient_source.h"
#include "experiments/program/console/progress.h"
#include "experiments/program/console/signals.h"
#include "experiments/program/runs/checkpoint.h"
#include "experiments/program/runs/job_digest.h"
#include "experiments/program/runs/planned_runs.h"
#include "experiments/program/runs/provenance.h"
#include "experiments/program/runs/run_device.h"
#include "experiments/program/runs/run_folder.h"
#include "experiments/program/runs/run_maker.h"
#include "experiments/program/runs/study_begin.h"
#include "experiments/program/runs/study_end.h"
#include "experiments/program/study/foreign_code.h"
#include "reports/results/csv.h"
#include "reports/summaries/collect.h"

namespace residuum {
// Members of LiveStudy::Runs, which unlike an unnamed namespace has external linkage.
inline namespace live {

namespace fs = std::filesystem;

constexpr const char* kShadow =
    "the gradients of your training as it goes without the study, whatever its methods would have "
    "done to the model";
constexpr const char* kApply =
    "the gradients of your training, which takes the update of this method";
constexpr const char* kNotBegun = "not-begun";       // the state of a study without a step
constexpr std::string_view kStatePrefix = "state-";  // what the names of checkpoints begin with
constexpr std::chrono::seconds kPatience{2};         // of a training that leaves
constexpr std::size_t kMostDigits = 10;              // of an iteration

/// Whether a study is attached in this program.
std::atomic<bool>& any_is_open() {
  static std::atomic<bool> is_open = false;
  return is_open;
}

/// The gradients and the step size of one training step, for all runs of the study.
struct StepGradients {
  std::size_t dimension = 0;
  std::vector<Layer> layers;
  int first_worker = 0;          // of this process
  std::vector<const float*> of;  // by worker of this process; the training's own memory
  Place place;                   // where that is
  double rate = 1;
  bool applies_update = false;
  std::string refusal;  // why a step was not taken

  std::string description() const { return applies_update ? kApply : kShadow; }
};

/// Copies the gradients of a device to the host for runs that have their memories there, each once
/// in a step. Only the run that has the turn asks for one.
class HostCopies {
 public:
  explicit HostCopies(const StepGradients& gradients) : gradients_(gradients) {}

  /// The next step has other gradients.
  void forget() { is_here_.assign(gradients_.of.size(), false); }

  std::span<const float> of(std::size_t slot) {
    if (device_ == nullptr) {
      device_ = make_device_at(gradients_.place);
    }
    copies_.resize(gradients_.of.size());
    if (!is_here_[slot]) {
      copies_[slot].resize(gradients_.dimension);
      device_->read({.data = gradients_.of[slot], .size = gradients_.dimension}, copies_[slot]);
      is_here_[slot] = true;
    }
    return copies_[slot];
  }

 private:
  const StepGradients& gradients_;
  std::unique_ptr<Device> device_;
  std::vector<std::vector<float>> copies_;
  std::vector<bool> is_here_;
};

/// For planning, which asks for sizes and not for gradients.
class PlanSource final : public GradientSource {
 public:
  explicit PlanSource(const StepGradients& gradients) : gradients_(gradients) {}
  std::size_t dimension() const override { return gradients_.dimension; }
  const std::vector<Layer>& layers() const override { return gradients_.layers; }
  std::string description() const override { return gradients_.description(); }
  Next await() override { return Next::end; }
  std::span<const float> gradient(int /*worker*/) const override { return {}; }
  Place place() const override { return gradients_.place; }
  double step_size() const override { return 1; }

 private:
  const StepGradients& gradients_;
};

/// The turn goes from the conductor to a run and back.
class Relay {
 public:
  static constexpr std::size_t kConductor = std::numeric_limits<std::size_t>::max();

  void give(std::size_t to) {
    {
      const std::lock_guard lock(mutex_);
      owner_ = to;
    }
    changed_.notify_all();
  }
  void await(std::size_t own) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return owner_ == own; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t owner_ = kConductor;
};

enum class Order { step, save, end, refuse, abandon };

/// The source of one run: it waits for the turn, then for what the conductor wants.
class RunSource final : public GradientSource {
 public:
  RunSource(const StepGradients& gradients,
            HostCopies& copies,
            Relay& relay,
            std::size_t number,
            bool applies_update)
      : gradients_(gradients),
        copies_(copies),
        relay_(relay),
        number_(number),
        update_(applies_update ? gradients.dimension : 0) {}

  void set(Order command) { command_ = command; }
  const std::vector<double>& taken_update() const { return update_; }

  std::size_t dimension() const override { return gradients_.dimension; }
  const std::vector<Layer>& layers() const override { return gradients_.layers; }
  std::string description() const override { return gradients_.description(); }
  Next await() override {
    relay_.give(Relay::kConductor);
    relay_.await(number_);
    switch (command_) {
      case Order::step:
        return Next::iteration;
      case Order::save:
        return Next::save;
      case Order::end:
        return Next::end;
      case Order::refuse:
        throw Error(ExitCode::usage, gradients_.refusal);
      case Order::abandon:
        break;
    }
    throw Error(ExitCode::stopped, "the training has left the study");
  }
  std::span<const float> gradient(int worker) const override {
    const std::size_t slot = slot_of(worker);
    return gradients_.place.kind == Place::Kind::host
               ? std::span(gradients_.of[slot], gradients_.dimension)
               : copies_.of(slot);
  }
  Place place() const override { return gradients_.place; }
  DeviceSpan gradient_there(int worker) const override {
    return {.data = gradients_.of[slot_of(worker)], .size = gradients_.dimension};
  }
  double step_size() const override { return gradients_.rate; }
  std::span<double> update() override { return update_; }

 private:
  std::size_t slot_of(int worker) const {
    return static_cast<std::size_t>(worker - gradients_.first_worker);
  }

  const StepGradients& gradients_;
  HostCopies& copies_;
  Relay& relay_;
  std::size_t number_;
  Order command_ = Order::step;
  std::vector<double> update_;
};

std::size_t dimension_of(const std::vector<Layer>& layers) {
  std::size_t dimension = 0;
  for (const Layer& layer : layers) {
    require(layer.offset == dimension && layer.size > 0 && !layer.name.empty(),
            "the layers of a training must have names and sizes, and follow each other without "
            "gaps; '{}' does not",
            layer.name);
    dimension += layer.size;
  }
  require(dimension > 0, "the training has no parameters to measure gradients of");
  return dimension;
}

/// Sets what the training decides, where the study leaves it open.
void fill_in(Study& study, int workers) {
  for (RunSpec& spec : study.runs) {
    auto& objective = spec.sections["objective"];
    objective.try_emplace("kind", Setting{.value = "live", .place = "the training"});
    const Setting& kind = objective.at("kind");
    require(kind.value == "live",
            "'objective.kind' at {} must be \"live\" in a study that is attached to a training, "
            "got {}",
            kind.place,
            shown(kind.value));
    auto& of_workers = spec.sections["workers"];
    of_workers.try_emplace("count", Setting{.value = workers, .place = "the training"});
    const Setting& count = of_workers.at("count");
    require(count.value == workers,
            "'workers.count' at {} is {}, but the training has {} workers; leave it out",
            count.place,
            shown(count.value),
            workers);
  }
}

std::string name_of(Place::Kind kind) {
  return kind == Place::Kind::host ? "host" : kind == Place::Kind::cuda ? "CUDA" : "stand-in";
}

JobDigest digest_of_training(const std::string& text, const LiveTraining& training) {
  std::string layers;
  for (const Layer& layer : training.layers) {
    layers += fmt::format("{}[{}] ", layer.name, fmt::join(layer.shape, ","));
  }
  return {{{.name = "the build of the library", .text = program_version()},
           {.name = "the study", .text = text},
           {.name = "the layers of the model", .text = layers},
           {.name = "the workers of a process", .text = std::to_string(training.workers_here)},
           {.name = "the way it is attached", .text = training.applies_update ? "apply" : "shadow"},
           {.name = "the memory of gradients", .text = name_of(training.place.kind)}}};
}

}  // namespace live

class LiveStudy::Runs {
 public:
  Runs(const std::string& text, const std::string& file, fs::path out, LiveTraining training)
      : training_(std::move(training)),
        world_(make_callback_world(training_.transport)),
        log_(world_->rank(), world_->is_root()),
        result_dir_(std::move(out)),
        progress_(ProgressStyle::none, false, 1, 1) {
    each_together(*world_, [&] {
      gradients_.dimension = dimension_of(training_.layers);
      require(training_.workers_here >= 1, "a process of the training has no worker");
    });
    agree(*world_, digest_of_training(text, training_));
    gradients_.layers = training_.layers;
    gradients_.applies_update = training_.applies_update;
    gradients_.place = training_.place;
    gradients_.first_worker = world_->rank() * training_.workers_here;
    gradients_.of.assign(static_cast<std::size_t>(training_.workers_here), nullptr);
    each_together(*world_, [&] { read(text, file); });
    plan();
    if (!any_run_is_there()) {
      gradients_.place = {};
    }
    conductor_ = std::thread([this] { conduct(); });
  }

  Runs(const Runs&) = delete;
  Runs& operator=(const Runs&) = delete;
  Runs(Runs&&) = delete;
  Runs& operator=(Runs&&) = delete;
  ~Runs() { any_is_open() = false; }

  std::size_t dimension() const { return gradients_.dimension; }
  Place place() const { return gradients_.place; }

  void step(std::span<const float* const> given, double rate, std::span<float> update) {
    require(!is_closed_, "the study is closed");
    require(given.size() == gradients_.of.size(),
            "a step takes the gradients of {} workers of this process, got {}",
            gradients_.of.size(),
            given.size());
    require(update.empty() == !training_.applies_update,
            "the study was attached {}",
            training_.applies_update ? "to apply its update" : "without asking for its update");
    check_addresses(given);
    wait_for_conductor();
    check_rate(rate);
    require_some_run();
    if (rate == 0 && any_step_is_live()) {  // the training does not move either
      std::fill(update.begin(), update.end(), 0.0F);
      return;
    }
    gradients_.of.assign(given.begin(), given.end());
    copies_.forget();
    gradients_.rate = rate;
    order(Order::step);
    ++steps_;
    if (!update.empty()) {
      wait_for_conductor();
      require_some_run();
      const double step_size = members_.front()->step_size(steps_ - 1);
      const auto& taken = members_.front()->source.taken_update();
      std::transform(taken.begin(), taken.end(), update.begin(), [&](double change) {
        return static_cast<float>(change / step_size);
      });
    }
  }

  void note(double loss) {
    if (!world_->is_root() || is_closed_) {
      return;
    }
    if (!notes_) {
      begin_notes();
    }
    notes_->append(
        fmt::format("{},{},{}\n",
                    members_.front()->done_before + std::max<std::uint64_t>(steps_, 1) - 1,
                    reports::format_number(gradients_.rate),
                    reports::format_number(loss)));
    notes_->flush();
  }

  void save(const fs::path& folder) {
    require(!is_closed_, "the study is closed");
    wait_for_conductor();
    require_some_run();
    if (steps_ == 0) {
      each_together(*world_, [&] {
        if (world_->is_root()) {
          write_file_atomically(OutputPath::named(folder) / kNotBegun, "");
        }
      });
      return;
    }
    order(Order::save);
    wait_for_conductor();
    each_together(*world_, [&] {
      if (world_->is_root()) {
        copy_states_to(OutputPath::named(folder));
      }
    });
  }

  void load(const fs::path& folder) {
    require(!is_closed_ && steps_ == 0 && !has_begun_,
            "a state is loaded before the first step of a study");
    const std::string iterations =
        text_of_root(*world_, [&] { return load_states(folder).dump(); });
    const auto done = nlohmann::json::parse(iterations);
    if (done.empty()) {
      return;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      members_[i]->done_before = done[i].get<std::uint64_t>();
    }
    is_loaded_ = true;
  }

  void close() {
    if (is_closed_) {
      return;
    }
    is_closed_ = true;
    wait_for_conductor();
    const std::string fault = what_ended_all();
    finish(gradients_.refusal.empty() ? Order::end : Order::refuse);
    each_together(*world_, [&] {
      if (world_->is_root()) {
        const auto alone = FileLock::wait(result_dir_ / kTablesLock);
        reports::collect(result_dir_);
      }
    });
    lock_.reset();
    require(fault.empty(), "no run went on to the end: {}", fault);
  }

  /// False if a run waits for another process, which may never answer: then it is left where it is.
  bool abandon() {
    if (is_closed_) {
      return true;
    }
    is_closed_ = true;
    is_abandoned_ = true;
    if (!conductor_waits_within(kPatience)) {
      return false;
    }
    finish(Order::abandon);
    lock_.reset();
    return true;
  }

 private:
  struct Member {
    Member(const StepGradients& gradients,
           HostCopies& copies,
           Relay& relay,
           std::size_t number,
           bool applies_update)
        : source(gradients, copies, relay, number, applies_update),
          objectives({.data_dir = {}, .cache_dir = {}, .workers = 1, .source = &source}) {}

    /// Returns the step size of a step of this training.
    double step_size(std::uint64_t iteration) const {
      return planned.method->step_rule->at(done_before + iteration, 0);
    }

    PreparedRun planned;
    RunSource source;
    ObjectiveCache objectives;
    std::thread thread;
    std::optional<Outcome> outcome;
    std::uint64_t done_before = 0;  // iterations, in the training that a loaded state is of
    std::string failure;
    bool is_over = false;
  };

  /// A training that goes on keeps its rows.
  void begin_notes() {
    const OutputPath file = OutputPath::named(result_dir_) / "training.csv";
    std::error_code missing;
    const std::uint64_t before = is_loaded_ ? fs::file_size(file.path(), missing) : 0;
    if (is_loaded_ && !missing) {
      notes_.emplace(file, before);
    } else {
      notes_.emplace(file);
      notes_->append("step,learning_rate,loss\n");
    }
  }

  /// The step of a wrong rate may be given again. If none follows it is missing in the runs, which
  /// have then failed.
  void check_rate(double rate) {
    gradients_.refusal.clear();
    if (!std::isfinite(rate) || rate < 0) {
      gradients_.refusal = fmt::format(
          "a learning rate must be finite and not negative, got {} in step {}", rate, steps_);
      usage_error("{}", gradients_.refusal);
    }
  }

  /// Kernels read four numbers at a time.
  void check_addresses(std::span<const float* const> given) const {
    constexpr std::uintptr_t kAlignment = 16;
    const bool are_right = std::all_of(given.begin(), given.end(), [](const float* address) {
      return std::bit_cast<std::uintptr_t>(address) % kAlignment == 0;
    });
    require(gradients_.place.kind == Place::Kind::host || are_right,
            "a gradient on a device must begin at a multiple of {} bytes",
            kAlignment);
  }

  /// True if a run has its memories where the training has its gradients.
  bool any_run_is_there() const {
    return std::any_of(members_.begin(), members_.end(), [](const auto& member) {
      return member->planned.wants_device && member->planned.device_obstacle.empty();
    });
  }

  int workers() const { return world_->size() * training_.workers_here; }

  void read(const std::string& text, const std::string& file) {
    study_ = parse_study(text, file, {});
    const auto foreign = foreign_code(study_);
    require(foreign.empty(),
            "{} executes '{}', which a study that is attached to a training does not do",
            foreign.empty() ? "" : foreign.front().where,
            foreign.empty() ? "" : foreign.front().text);
    require(!study_.search && !study_.tune,
            "{}: a search or a tuning makes runs one after the other; leave it out",
            file);
    require(!training_.applies_update || study_.runs.size() == 1,
            "{}: the study has {} runs, but the update of one is to be applied; leave out the "
            "sweep, or attach without apply",
            file,
            study_.runs.size());
    fill_in(study_, workers());
  }

  void plan() {
    PlanSource sizes(gradients_);
    ObjectiveCache objectives({.data_dir = {}, .cache_dir = {}, .workers = 1, .source = &sizes});
    const auto planned = plan_together(*world_, study_, objectives, result_dir_);
    each_together(*world_, [&] { require_prepared(study_, planned); });
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < planned.size(); ++i) {
      ids.push_back(planned[i].id);
      members_.push_back(
          std::make_unique<Member>(gradients_, copies_, relay_, i, training_.applies_update));
      KnownKeys known;
      members_.back()->planned = prepare(study_.runs[i], members_.back()->objectives, known);
    }
    const std::string over = text_of_root(*world_, [&] {
      begin_folder(planned, ids);
      auto done = nlohmann::json::array();
      for (const auto& id : ids) {
        done.push_back(is_done(result_dir_, id));
      }
      return done.dump();
    });
    const auto done = nlohmann::json::parse(over);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      members_[i]->is_over = done[i].get<bool>();
      members_[i]->failure = members_[i]->is_over ? "it had ended before" : "";
    }
    provenance_ = provenance({reports::kAttached}, *world_);
  }

  void begin_folder(const std::vector<PreparedRun>& planned, const std::vector<std::string>& ids) {
    const auto is_over = [&](const PreparedRun& run) { return is_done(result_dir_, run.id); };
    require(!std::all_of(planned.begin(), planned.end(), is_over),
            "{} already holds the results of this study; give another folder",
            result_dir_.string());
    const Options options;
    RunBatches batches(study_, options.share, ids, result_dir_);
    batches.next();
    lock_ = begin_study(result_dir_, study_, planned, batches, reports::kAttached, options);
  }

  OutputPath folder_of(const Member& member) const {
    return OutputPath::named(result_dir_) / "runs" / member.planned.id;
  }

  /// A copy has the id of its run and the name of its checkpoint.
  void copy_states_to(const OutputPath& folder) const {
    for (const auto& member : members_) {
      if (member->is_over) {
        continue;
      }
      const auto newest = find_checkpoint(
          folder_of(*member), member->planned.id, [](const CheckpointHead& /*head*/) {});
      if (newest) {
        const std::string name = newest->file.path().filename().string();
        write_file_atomically(folder / (member->planned.id + "." + name),
                              reports::read_file(newest->file.path()));
      }
    }
  }

  /// Puts the state of each run where it looks for a checkpoint; returns the iterations that they
  /// have done. A run that had ended has no state.
  nlohmann::json load_states(const fs::path& folder) {
    auto done = nlohmann::json::array();
    if (fs::exists(folder / kNotBegun)) {
      return done;
    }
    require(!fs::is_empty(folder),
            "the state is empty: process 0 must load what was saved on process 0");
    for (const auto& member : members_) {
      done.push_back(member->is_over ? 0 : load_state(folder, *member, study_));
    }
    return done;
  }

  std::uint64_t load_state(const fs::path& folder, const Member& member, const Study& study) {
    const std::string prefix = member.planned.id + "." + std::string(kStatePrefix);
    std::string digits;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with(prefix)) {
        digits = name.substr(prefix.size());
      }
    }
    require(!digits.empty() && digits.size() <= kMostDigits &&
                digits.find_first_not_of("0123456789") == std::string::npos,
            "there is no state of run {}: it is of another study, or of a run that had ended",
            member.planned.id);
    const OutputPath run = folder_of(member);
    keep_checkpoints(run, 0, std::numeric_limits<std::uint64_t>::max());
    make_folder(run / "checkpoint");
    write_file_atomically(run / "checkpoint" / (std::string(kStatePrefix) + digits),
                          reports::read_file(folder / (prefix + digits)));
    const RunFolder resumed(result_dir_, member.planned, study);
    require(resumed.resumed_iterations() > 0,
            "the state of run {} does not fit the tables in {}: attach with the folder of then",
            member.planned.id,
            result_dir_.string());
    return resumed.resumed_iterations();
  }

  void forget_checkpoints() {
    for (const auto& member : members_) {
      if (!member->is_over) {
        keep_checkpoints(folder_of(*member), 0, std::numeric_limits<std::uint64_t>::max());
      }
    }
  }

  bool any_step_is_live() const {
    return std::any_of(members_.begin(), members_.end(), [](const auto& member) {
      return member->planned.config["step"].value("value", nlohmann::json()) == "live";
    });
  }

  bool all_are_over() const {
    return std::all_of(
        members_.begin(), members_.end(), [](const auto& member) { return member->is_over; });
  }

  /// Returns the reason why the first run has ended where none goes on; empty where one does, or
  /// where all have done their iterations.
  std::string what_ended_all() const {
    const Member& first = *members_.front();
    if (!all_are_over()) {
      return {};
    }
    return first.outcome ? first.outcome->message : first.failure;
  }

  /// Where a run has failed, the error has the code of failed runs.
  void require_some_run() const {
    if (all_are_over()) {
      const std::string reason = what_ended_all();
      throw Error(members_.front()->failure.empty() ? ExitCode::usage : ExitCode::runs_failed,
                  fmt::format("no run goes on: {}",
                              reason.empty() ? "all have done the iterations that "
                                               "'budget.iterations' gives them"
                                             : reason));
    }
  }

  /// Makes a run, in its thread.
  void make(std::size_t number) {
    Member& member = *members_[number];
    relay_.await(number);
    try {
      log_.start_run(folder_of(member));
      RunMaker maker({.group = *world_,
                      .log = log_,
                      .objectives = member.objectives,
                      .result_dir = result_dir_,
                      .provenance = provenance_,
                      .checkpoint_every_s = std::numeric_limits<double>::infinity()});
      member.outcome = maker.make(study_.runs[number], member.planned, study_, progress_, [] {});
    } catch (const Error& error) {
      member.failure = error.what();
    } catch (const std::bad_alloc&) {
      member.failure = "out of memory";
    } catch (const std::exception& error) {
      member.failure = fmt::format("internal error: {}", error.what());
    }
    if (!member.failure.empty() && world_->is_root() && !is_abandoned_) {
      note_failure(member);
    }
    member.is_over = true;
    relay_.give(Relay::kConductor);
  }

  void note_failure(Member& member) {
    if (is_interrupted(result_dir_, member.planned.id)) {
      return;
    }
    try {
      fail_run(result_dir_, member.planned, study_, member.failure);
    } catch (const Error& error) {
      member.failure += fmt::format("; and {}", error.what());
    }
  }

  /// Lets all runs go on, in their order, as the training orders; in the conductor's thread.
  void conduct() {
    for (;;) {
      const Order command = next_order();
      if (!has_begun_) {
        has_begun_ = true;
        begin_runs(command);
      }
      for (std::size_t i = 0; i < members_.size(); ++i) {
        if (!members_[i]->is_over) {
          members_[i]->source.set(command);
          relay_.give(i);
          relay_.await(Relay::kConductor);
        }
      }
      done();
      if (command == Order::end || command == Order::refuse || command == Order::abandon) {
        return;
      }
    }
  }

  /// Starts every run up to its first gradients. One that is abandoned before its first step has
  /// none.
  void begin_runs(Order command) {
    if (command == Order::abandon) {
      for (const auto& member : members_) {
        member->is_over = true;
      }
      return;
    }
    std::string refusal;
    try {
      each_together(*world_, [&] {
        if (world_->is_root() && !is_loaded_) {
          forget_checkpoints();  // without a state that the training gives, a run begins anew
        }
      });
    } catch (const Error& error) {
      refusal = error.what();
    }
    if (command == Order::refuse) {  // before the first step: there is nothing to measure
      refusal = gradients_.refusal;
    }
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (!members_[i]->is_over) {
        begin_run(i, refusal);
      }
    }
  }

  /// Starts a run, or ends it where there is a reason not to.
  void begin_run(std::size_t number, const std::string& refusal) {
    Member& member = *members_[number];
    if (refusal.empty()) {
      member.thread = std::thread([this, number] { make(number); });
      relay_.give(number);
      relay_.await(Relay::kConductor);
      return;
    }
    member.is_over = true;
    member.failure = refusal;
    if (world_->is_root()) {
      note_failure(member);
    }
  }

  void order(Order command) {
    const std::lock_guard lock(mutex_);
    ordered_ = command;
    changed_.notify_all();
  }
  Order next_order() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ordered_.has_value(); });
    return *ordered_;
  }
  void done() {
    const std::lock_guard lock(mutex_);
    ordered_.reset();
    changed_.notify_all();
  }
  /// Waits until the conductor has done its order, at most for `time`; false if it has not.
  bool conductor_waits_within(std::chrono::seconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return !ordered_.has_value(); });
  }
  void wait_for_conductor() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !ordered_.has_value(); });
  }

  void finish(Order command) {
    wait_for_conductor();
    order(command);
    wait_for_conductor();
    conductor_.join();
    for (const auto& member : members_) {
      if (member->thread.joinable()) {
        member->thread.join();
      }
    }
    notes_.reset();
  }

  LiveTraining training_;
  std::unique_ptr<World> world_;
  RankLog log_;
  fs::path result_dir_;
  Progress progress_;
  StepGradients gradients_;
  HostCopies copies_{gradients_};
  Study study_;
  std::vector<std::unique_ptr<Member>> members_;
  std::unique_ptr<FileLock> lock_;
  nlohmann::json provenance_;
  std::optional<OutputFile> notes_;
  Relay relay_;
  std::thread conductor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Order> ordered_;
  std::uint64_t steps_ = 0;
  bool has_begun_ = false;  // the conductor's, but before the first order
  bool is_loaded_ = false;
  bool is_closed_ = false;
  bool is_abandoned_ = false;
};

LiveStudy::LiveStudy(const std::string& text,
                     const std::string& file,
                     const fs::path& out,
                     LiveTraining training) {
  require(!any_is_open().exchange(true),
          "a study is attached already; close it before the next one");
  try {
    runs_ = std::make_unique<Runs>(text, file, out, std::move(training));
  } catch (...) {
    any_is_open() = false;
    throw;
  }
}

LiveStudy::~LiveStudy() { abandon(); }

std::size_t LiveStudy::dimension() const { return runs_->dimension(); }
Place LiveStudy::place() const { return runs_->place(); }

void LiveStudy::step(std::span<const float* const> gradients,
                     double rate,
                     std::span<float> update) {
  runs_->step(gradients, rate, update);
}

void LiveStudy::note(double loss) { runs_->note(loss); }
void LiveStudy::save(const fs::path& folder) { runs_->save(folder); }
void LiveStudy::load(const fs::path& folder) { runs_->load(folder); }
void LiveStudy::close() { runs_->close(); }

void LiveStudy::abandon() {
  if (runs_ && !runs_->abandon()) {
    static_cast<void>(runs_.release());  // a thread still uses it; the program is about to end
  }
}

}  // namespace residuum
