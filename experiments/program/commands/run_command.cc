// `residuum run` does every run of a study, one at a time in each group of processes, and skips
// those that are done. Then it collects the tables.

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <new>
#include <optional>

#include "core/cluster/mpi_world.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/progress.h"
#include "experiments/program/console/signals.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/file_lock.h"
#include "experiments/program/runs/job_digest.h"
#include "experiments/program/runs/planned_runs.h"
#include "experiments/program/runs/provenance.h"
#include "experiments/program/runs/rank_log.h"
#include "experiments/program/runs/run_batches.h"
#include "experiments/program/runs/run_folder.h"
#include "experiments/program/runs/run_maker.h"
#include "experiments/program/runs/study_begin.h"
#include "experiments/program/runs/study_end.h"
#include "experiments/program/study/foreign_code.h"
#include "experiments/program/study/study.h"
#include "objectives/data/catalogue.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;

/// Reports a usage error if a run cannot be done by the processes of a group.
void check_processes(World& group, const PreparedRun& run) {
  if (run.protocol != nullptr) {
    static_cast<void>(run.protocol->cluster(group, run.workers));
  } else {
    const Cluster fits(group, run.workers);
  }
}

class StudyRuns {
 public:
  StudyRuns(const Options& options, const std::vector<std::string>& command_line, World& world)
      : options_(options),
        world_(world),
        start_(world.size() > 1 ? std::optional(watch_start("The reading of the study"))
                                : std::nullopt),
        group_(group_on_all()),
        log_(world.rank(), group_->is_root()),
        study_(parse_on_all()),
        watch_(world, watched(), messages_or_signs()),
        result_dir_(output_folder(options, study_.name)),
        objectives_({.data_dir = data_directory(options.data_dir),
                     .cache_dir = cache_folder(),
                     .workers = 1,
                     .local_rank = world.local_rank(),
                     .allow_commands = options.allow_commands,
                     .study_dir = options.study.parent_path()}),
        command_line_(command_line),
        command_(quoted_command(command_line)) {
    start_.reset();  // processes give signs of life from here on
  }

  ExitCode run() {
    try {
      const ExitCode code = run_watched();
      watch_.close();
      return code;
    } catch (const SharedError&) {
      watch_.close();  // all processes have met it
      throw;
    }
  }

 private:
  ExitCode run_watched() {
    planned_ = plan_together(world_, study_, objectives_, result_dir_);
    methods_ = method_names(study_, planned_);
    together(world_, [&] {
      for (const auto& run : planned_) {
        check_processes(*group_, run);
      }
    });
    // Planning has loaded the libraries that the runs need, so now they are known.
    maker_.emplace(RunMaker::Setting{.group = *group_,
                                     .log = log_,
                                     .objectives = objectives_,
                                     .result_dir = result_dir_,
                                     .provenance = provenance(command_line_, world_),
                                     .checkpoint_every_s = options_.checkpoint_every_s,
                                     .watch = &watch_});
    return run_planned();
  }

  ExitCode run_planned() {
    std::optional<Error> failure;
    RunBatches batches(study_, options_.share, all_ids(), result_dir_);
    while (!failure && !ends() && take_batch(batches)) {
      failure = work_on_batch();
    }
    pool_done();
    together(world_, [&] {
      if (failure) {
        throw Error(*failure);
      }
    });
    ExitCode code = ExitCode::done;
    together(world_, [&] {
      if (world_.is_root()) {
        code = close(batches);
      }
    });
    return static_cast<ExitCode>(world_.minimum(world_.is_root() ? static_cast<int>(code) : 255));
  }

  bool has_real_runs() const { return real_execution(study_) != nullptr; }
  /// Real runs send messages within their group, which has several processes; others have groups of
  /// one too, so that all watch all.
  World& watched() const { return has_real_runs() ? *group_ : world_; }
  LossWatch::Use messages_or_signs() const {
    return has_real_runs() ? LossWatch::Use::messages : LossWatch::Use::signs;
  }

  std::unique_ptr<World> group_on_all() const {
    std::unique_ptr<World> group;
    together(world_, [&] { group = make_group_world(world_, options_.groups); });
    return group;
  }

  /// Notes in the folder what it is about, and takes the next runs; returns false where nothing is
  /// left.
  bool take_batch(RunBatches& batches) {
    const std::string text = text_of_root(world_, [&] {
      if (lock_) {
        // Shares write the same file: the one that looks last has seen most.
        const auto alone = FileLock::wait(result_dir_ / kTablesLock);
        const auto batch = batches.next();
        write_study_files(result_dir_, study_, planned_, batches, command_, options_);
        return nlohmann::json(batch).dump();
      }
      const auto batch = batches.next();
      for (const std::size_t i : batch) {
        refuse_other_data(result_dir_, planned_[i]);
        refuse_other_program(result_dir_, planned_[i]);
      }
      lock_ = begin_study(result_dir_, study_, planned_, batches, command_, options_);
      return nlohmann::json(batch).dump();
    });
    chosen_ = nlohmann::json::parse(text).get<std::vector<std::size_t>>();
    return !chosen_.empty();
  }

  std::optional<Error> work_on_batch() {
    RunQueue queue(chosen_.size(), queue_file());
    together(world_, [&] {
      if (world_.is_root()) {
        queue.start();
      }
    });
    std::optional<Error> failure = work(queue);
    pool();  // all groups are through
    if (world_.is_root() && options_.share.of == 1) {
      queue.remove();  // nobody else is in the folder; a share may be done twice at once
    }
    return failure;
  }

  /// Groups take their runs from a file; a single one needs none.
  fs::path queue_file() const {
    const Share& share = options_.share;
    return options_.groups == 1
               ? fs::path()
               : result_dir_ / fmt::format(".next-{}-of-{}", share.index, share.of);
  }

  /// Does the work of this group of processes. An error that ends it is returned and not thrown, so
  /// that the others go on.
  std::optional<Error> work(RunQueue& queue) {
    Progress progress(options_.progress, group_->is_root(), chosen_.size(), options_.groups);
    try {
      while (const auto position = next_run(queue)) {
        const std::size_t i = chosen_[*position];
        progress.start_run(*position,
                           fmt::format("{} seed={}", harmless(methods_[i]), planned_[i].seed));
        make_or_fail(i, progress);
      }
    } catch (const SharedError& error) {
      return error;
    }
    return std::nullopt;
  }

  /// Returns the next run that no group has taken. A group that must stop, on request or because a
  /// run failed, closes the queue for all.
  std::optional<std::size_t> next_run(RunQueue& queue) {
    const bool asked = group_->minimum(stop_requested().load() ? 0 : 1) == 0;
    const bool ends = asked || (options_.fail_fast && any_failed_);
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    together(*group_, [&] {
      if (!group_->is_root()) {
        return;
      }
      const auto position = queue.next();
      if (ends) {
        stopped_ = stopped_ || (asked && position);
        queue.close();
      } else if (position) {
        next = static_cast<std::int64_t>(*position);
      }
    });
    next = group_->minimum(next);
    return next < static_cast<std::int64_t>(chosen_.size())
               ? std::optional(static_cast<std::size_t>(next))
               : std::nullopt;
  }

  bool any(bool mine) const { return world_.minimum(mine ? 0 : 1) == 0; }

  /// Tells all groups what each of them has met.
  void pool() {
    stopped_ = any(stopped_);
    out_of_time_ = any(out_of_time_);
    any_failed_ = any(any_failed_);
  }

  bool ends() const { return stopped_ || (options_.fail_fast && any_failed_); }

  void pool_done() {
    std::array done{group_->is_root() ? static_cast<double>(done_before_) : 0.0};
    world_.add_up(std::span<double>(done));
    done_before_ = static_cast<std::size_t>(done.front());
  }

  /// Does one run unless it is done or somebody else is at it.
  void make_or_fail(std::size_t i, Progress& progress) {
    const PreparedRun& planned = planned_[i];
    const auto alone = [&](const Error& error) {
      if (group_->size() > 1) {
        throw;  // the other processes do not know of it
      }
      fail(planned, error, progress);
    };
    try {
      attempt(i, progress);
    } catch (const SharedError& error) {
      if (error.code() == ExitCode::stopped) {
        stopped_ = true;
        progress.end_run(error.what(), Notice::progress);
        return;
      }
      fail(planned, error, progress);
    } catch (const Error& error) {
      alone(error);
    } catch (const std::bad_alloc&) {
      alone(Error(ExitCode::resource, "out of memory"));
    }
  }

  void attempt(std::size_t i, Progress& progress) {
    std::unique_ptr<FileLock> lock;
    switch (state_on_root(planned_[i], lock)) {
      case Before::done:
        progress.end_run("done before", Notice::quiet);
        ++done_before_;
        return;
      case Before::taken:
        progress.end_run("another process is at it", Notice::progress);
        return;
      case Before::unreadable:
        any_failed_ = true;
        progress.end_run("skipped: cannot read it: " + why_unreadable_, Notice::trouble);
        return;
      case Before::open:
        break;
    }
    if (!planned_[i].failure.empty()) {
      throw SharedError(ExitCode::resource, planned_[i].failure);
    }
    forget_failed_preparation(i);
    log_.start_run(folder_of(planned_[i].id));
    log_.guard([&] {
      const Outcome outcome = maker_->make(
          study_.runs[i], planned_[i], study_, progress, [this] { mind_time_limit(); });
      // A tuning finds out where runs diverge.
      const bool may_diverge = study_.runs[i].is_tuning;
      any_failed_ = any_failed_ || (outcome.state == Outcome::State::diverged && !may_diverge);
      stopped_ = stopped_ || outcome.state == Outcome::State::stopped;
    });
  }

  /// Removes what a start left under another id because it could not prepare the run.
  void forget_failed_preparation(std::size_t i) const {
    if (group_->is_root()) {
      const OutputPath folder = folder_of(unprepared(study_.runs[i], "").id);
      remove_folder(folder);
      remove_file(reports::failure_file(folder));
    }
  }

  OutputPath folder_of(const std::string& run_id) const {
    return OutputPath::named(result_dir_) / "runs" / run_id;
  }

  enum class Before : std::int64_t { done, taken, unreadable, open };

  /// Other processes may have a share in the folder, so every run is locked by itself; the root
  /// holds the lock.
  Before state_on_root(const PreparedRun& planned, std::unique_ptr<FileLock>& lock) {
    Before before = Before::open;
    together(*group_, [&] {
      if (!group_->is_root()) {
        return;
      }
      bool done = false;
      try {
        done = is_done(result_dir_, planned.id);
      } catch (const Error& error) {
        why_unreadable_ = error.what();
        before = Before::unreadable;
        return;
      }
      if (done) {
        if (planned.failure.empty()) {
          mend_finished(result_dir_, planned, study_);
        }
        before = Before::done;
        return;
      }
      lock = FileLock::attempt(folder_of(planned.id) / ".lock", FileLock::Kind::exclusive);
      before = lock ? Before::open : Before::taken;
    });
    return static_cast<Before>(group_->minimum(static_cast<std::int64_t>(before)));
  }

  /// A run that fails is a result of the batch; the others go on.
  void fail(const PreparedRun& planned, const Error& error, Progress& progress) {
    any_failed_ = true;
    together(*group_, [&] {
      if (group_->is_root()) {
        fail_run(result_dir_, planned, study_, error.what());
      }
    });
    progress.end_run(fmt::format("failed: {}", error.what()), Notice::trouble);
  }

  std::vector<std::string> all_ids() const {
    std::vector<std::string> ids;
    ids.reserve(planned_.size());
    for (const PreparedRun& run : planned_) {
      ids.push_back(run.id);
    }
    return ids;
  }

  Study parse_on_all() {
    const std::string text = text_of_root(world_, [&] { return read_study_file(options_.study); });
    std::optional<Study> study;
    each_together(world_, [&] {
      study = parse_study(text, options_.study.string(), options_.overrides);
      require_allowed(*study, options_.allow_commands);
      require(
          !study->search || options_.share.of == 1,
          "--shard: a search decides run by run what comes next; leave it out, or use --groups");
    });
    return *std::move(study);
  }

  void mind_time_limit() {
    if (options_.time_limit_s > 0 && !out_of_time_) {
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - started_;
      out_of_time_ = spent.count() > options_.time_limit_s;
      if (out_of_time_) {
        request_stop();
      }
    }
  }

  /// Collects the tables and says how the batch went.
  ExitCode close(const RunBatches& batches) {
    const auto own = batches.own_ids();
    if (done_before_ > 0) {
      say(fmt::format("{} of {} {} done before",
                      done_before_,
                      own.size(),
                      own.size() == 1 ? "run was" : "runs were"));
    }
    const ExitCode code = end_study(result_dir_, own, options_);
    if (out_of_time_ && stopped_) {
      say("out of time: the same command goes on from here");
      return ExitCode::time_limit;
    }
    if (stopped_) {
      say("stopped on request: the same command goes on from here");
      return ExitCode::stopped;
    }
    return code;
  }

  const Options& options_;
  World& world_;
  std::optional<CallWatch> start_;
  std::unique_ptr<World> group_;  // the processes that do one run together
  RankLog log_;
  Study study_;
  LossWatch watch_;
  fs::path result_dir_;
  ObjectiveCache objectives_;
  std::vector<std::string> command_line_;
  std::optional<RunMaker> maker_;
  std::string command_;
  std::vector<PreparedRun> planned_;
  std::vector<std::string> methods_;  // of the runs
  std::vector<std::size_t> chosen_;   // the runs of this batch
  std::unique_ptr<FileLock> lock_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::size_t done_before_ = 0;
  bool any_failed_ = false;
  std::string why_unreadable_;
  bool stopped_ = false;
  bool out_of_time_ = false;
};

}  // namespace

ExitCode run_command(const Options& options,
                     const std::vector<std::string>& command_line,
                     World& world) {
  return StudyRuns(options, command_line, world).run();
}

}  // namespace residuum
