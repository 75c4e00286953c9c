// residuum run: every run of a study in turn; those that are done are skipped. Then the tables are
// collected.

#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "experiments/commands.h"
#include "experiments/file_lock.h"
#include "experiments/progress.h"
#include "experiments/provenance.h"
#include "experiments/run_checkpoints.h"
#include "experiments/run_folder.h"
#include "experiments/signals.h"
#include "experiments/study.h"
#include "experiments/study_end.h"
#include "objectives/data/catalogue.h"
#include "reports/files.h"
#include "reports/result_folder.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;

/// The root reads the file, everybody gets its bytes.
std::string read_study_text(const fs::path& file, World& world) {
  Bytes bytes;
  together(world, [&] {
    if (world.is_root()) {
      const std::string text = reports::read_file(file);
      bytes.resize(text.size());
      std::memcpy(bytes.data(), text.data(), text.size());
    }
  });
  broadcast(world, 0, bytes);
  std::string text(bytes.size(), '\0');
  std::memcpy(text.data(), bytes.data(), bytes.size());
  return text;
}

/// A run as progress and messages name it: what varies, and the seed.
std::string label_of(const PreparedRun& run) {
  std::string label;
  for (const auto& [key, value] : run.varying.items()) {
    const auto dot = key.find('.');
    const std::string name = key.substr(dot + 1);
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    const bool speaks_for_itself = name == "kind" || name == "putback";
    label += fmt::format("{}{} ", speaks_for_itself ? "" : name + "=", text);
  }
  return label + "seed=" + std::to_string(run.seed);
}

class Batch {
 public:
  Batch(const Options& options, const std::vector<std::string>& command_line, World& world)
      : options_(options),
        world_(world),
        study_(parse_on_all()),
        result_dir_(output_folder(options, study_.name)),
        objectives_({.data_dir = data_directory(options.data_dir),
                     .cache_dir = cache_folder(),
                     .workers = 1}),
        provenance_(provenance(command_line, world)),
        command_(quoted_command(command_line)) {}

  ExitCode run() {
    together(world_, [&] { planned_ = prepare_all(study_, objectives_); });
    together(world_, [&] {
      for (const auto& run : planned_) {
        const Cluster fits(world_, run.workers);
      }
    });
    together(world_, [&] { open_folder(); });
    for (std::size_t i = 0; i < planned_.size(); ++i) {
      if (options_.shard.has(i)) {
        chosen_.push_back(planned_[i].id);
      }
    }
    Progress progress(world_.is_root() ? options_.progress : ProgressStyle::none, chosen_.size());
    for (std::size_t i = 0; i < planned_.size() && !ended_early(); ++i) {
      if (options_.shard.has(i)) {
        visit(i, progress);
      }
    }
    ExitCode code = ExitCode::done;
    together(world_, [&] {
      if (world_.is_root()) {
        code = close();
      }
    });
    return static_cast<ExitCode>(world_.minimum(world_.is_root() ? static_cast<int>(code) : 255));
  }

 private:
  /// Does one run unless it is done or somebody else is at it.
  void visit(std::size_t i, Progress& progress) {
    const PreparedRun& planned = planned_[i];
    progress.start_run(label_of(planned));
    std::unique_ptr<FileLock> lock;
    switch (state_on_root(planned.id, lock)) {
      case Before::done:
        progress.end_run("done before", false);
        ++done_before_;
        return;
      case Before::taken:
        progress.end_run("another process is at it", true);
        return;
      case Before::open:
        break;
    }
    try {
      run_one(study_.runs[i], progress);
    } catch (const SharedError& error) {
      fail(planned.id, error, progress);
    } catch (const Error& error) {
      if (world_.size() > 1) {
        throw;  // the other processes do not know of it
      }
      fail(planned.id, error, progress);
    }
  }

  enum class Before : std::int64_t { done, taken, open };

  /// Shards share the folder, so that every run is locked by itself; the lock is the root's.
  Before state_on_root(const std::string& id, std::unique_ptr<FileLock>& lock) {
    Before before = Before::open;
    together(world_, [&] {
      if (!world_.is_root()) {
        return;
      }
      if (is_done(result_dir_, id)) {
        before = Before::done;
        return;
      }
      lock = FileLock::attempt(result_dir_ / "runs" / id / ".lock", FileLock::Kind::exclusive);
      before = lock ? Before::open : Before::taken;
    });
    return static_cast<Before>(world_.minimum(static_cast<std::int64_t>(before)));
  }

  /// A run that fails is a result of the batch; the others go on.
  void fail(const std::string& id, const Error& error, Progress& progress) {
    any_failed_ = true;
    together(world_, [&] {
      if (world_.is_root()) {
        fail_run(result_dir_, id, error.what());
      }
    });
    progress.end_run(fmt::format("failed: {}", error.what()), true);
  }

  /// Whether the batch is to end before its last run: on request, or because a run failed.
  bool ended_early() {
    const bool ends = stop_requested().load() || (options_.fail_fast && any_failed_);
    stopped_ = stopped_ || stop_requested().load();
    return world_.minimum(ends ? 0 : 1) == 0;
  }

  Study parse_on_all() {
    const std::string text = read_study_text(options_.study, world_);
    return parse_study(text, options_.study.string(), options_.overrides);
  }

  void open_folder() {
    if (!world_.is_root()) {
      return;
    }
    const fs::path resolved = result_dir_ / "study.resolved.json";
    refuse_foreign_folder();
    lock_folder();
    const auto alone = FileLock::wait(result_dir_ / kTablesLock);
    if (fs::exists(resolved)) {
      const std::string other = reports::text_at(reports::read_json(resolved), "name");
      require(other == study_.name,
              "{} holds the results of study '{}', this one is '{}'; give another --out",
              result_dir_.string(),
              other,
              study_.name);
    }
    reports::Json ids = reports::Json::array();
    for (const auto& run : planned_) {
      ids.push_back(run.id);
    }
    reports::write_file_atomically(result_dir_ / "study.toml", study_.text);
    reports::write_json_atomically(resolved,
                                   {{"name", study_.name},
                                    {"title", study_.title},
                                    {"runs", ids},
                                    {"command", command_},
                                    {"overrides", options_.overrides}});
  }

  /// Shards of one study may work side by side, each on runs of its own.
  void lock_folder() {
    const auto kind = options_.shard.of > 1 ? FileLock::Kind::shared : FileLock::Kind::exclusive;
    lock_ = FileLock::attempt(result_dir_ / ".lock", kind);
    require(lock_ != nullptr,
            "another process is writing {}; wait for it or give another --out",
            result_dir_.string());
  }

  /// Before anything is written: a folder of ours has at least the lock.
  void refuse_foreign_folder() const {
    if (!fs::exists(result_dir_)) {
      return;
    }
    require(
        fs::is_directory(result_dir_), "{} is a file; give another --out", result_dir_.string());
    require(fs::is_empty(result_dir_) || fs::exists(result_dir_ / ".lock") ||
                fs::exists(result_dir_ / "study.resolved.json"),
            "{} is not empty and holds no study; give another --out",
            result_dir_.string());
  }

  void run_one(const RunSpec& spec, Progress& progress) {
    std::unique_ptr<RunFolder> folder;
    PreparedRun run;
    std::optional<Cluster> cluster;
    together(world_, [&] {
      KnownKeys known;
      run = prepare(spec, objectives_, known);
      cluster.emplace(world_, run.workers);
      run.training.cluster = &*cluster;
      const Facts facts = run.objective->facts();
      run.training.minimum = facts.minimum;
      run.training.minimizer = facts.minimizer;
      run.training.stop = &stop_requested();
      if (world_.is_root()) {
        folder = std::make_unique<RunFolder>(result_dir_, run, study_.name, study_.title);
      }
    });
    use_pilot(run, folder.get());
    NoRecorder nothing;
    Recorder& recorder = folder ? static_cast<Recorder&>(*folder) : nothing;
    Monitor monitor(make_probes(run.probes, "'probes.names'"),
                    recorder,
                    [&](std::uint64_t done, std::uint64_t total) {
                      progress.iteration(done, total);
                      mind_time_limit();
                    });
    run.details.add_to(monitor);
    if (!run.records_times) {
      monitor.leave_out_times();
    }
    RunCheckpoints checkpoints(*cluster, folder.get(), monitor, options_.checkpoint_every_s);
    run.training.checkpoints = &checkpoints;
    const Outcome outcome = train(run.training, monitor);
    together(world_, [&] {
      if (folder) {
        folder->finish(outcome, monitor.summary(), run, provenance_);
        progress.end_run(describe(outcome), is_remarkable(outcome));
      }
    });
    any_failed_ = any_failed_ || outcome.state == Outcome::State::diverged;
    stopped_ = stopped_ || outcome.state == Outcome::State::stopped;
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

  /// Collects the tables and says how it went.
  ExitCode close() {
    if (done_before_ > 0) {
      say(fmt::format("{} of {} runs were done before", done_before_, chosen_.size()));
    }
    const ExitCode code = end_study(result_dir_, chosen_, options_);
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

  /// Finds the threshold of a run that asks for one. The run's identity stays what was asked.
  void use_pilot(PreparedRun& run, RunFolder* folder) {
    run.found = folder != nullptr ? folder->found() : std::nullopt;
    share(run.found);
    if (!run.found) {
      run.found = find_threshold(run.training);
    }
    if (folder != nullptr) {
      folder->remember(run.found);
    }
    if (!run.found) {
      return;
    }
    auto method = std::make_shared<Method>(*run.method);
    method->sparsifier = run.method->sparsifier->with_threshold(run.found->threshold);
    run.method = std::move(method);
    run.training.method = run.method.get();
  }

  /// What the root knows, on all processes.
  void share(std::optional<FoundThreshold>& found) {
    world_.broadcast(0, std::as_writable_bytes(std::span(&found, 1)));
  }

  /// Short runs pass in silence; a long one, and one that did not finish, is worth a line.
  static bool is_remarkable(const Outcome& outcome) {
    constexpr double kLong = 5;
    return outcome.state != Outcome::State::finished || outcome.wall_s > kLong;
  }

  static std::string describe(const Outcome& outcome) {
    if (outcome.state != Outcome::State::finished) {
      return outcome.message;
    }
    std::string text = fmt::format("{:.2f} s", outcome.wall_s);
    if (outcome.evaluation) {
      text += fmt::format(", loss {:.6g}", outcome.evaluation->loss);
    }
    if (outcome.test) {
      text += outcome.test->perplexity
                  ? fmt::format(", test perplexity {:.2f}", *outcome.test->perplexity)
                  : fmt::format(", test accuracy {:.4f}", outcome.test->accuracy);
    }
    return text;
  }

  class NoRecorder final : public Recorder {
   public:
    void write(const Row& /*row*/, const std::vector<Check>& /*checks*/) override {}
  };

  const Options& options_;
  World& world_;
  Study study_;
  fs::path result_dir_;
  ObjectiveCache objectives_;
  nlohmann::json provenance_;
  std::string command_;
  std::vector<PreparedRun> planned_;
  std::vector<std::string> chosen_;  // ids of the runs of this shard
  std::unique_ptr<FileLock> lock_;
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  std::size_t done_before_ = 0;
  bool any_failed_ = false;
  bool stopped_ = false;
  bool out_of_time_ = false;
};

}  // namespace

ExitCode run_command(const Options& options,
                     const std::vector<std::string>& command_line,
                     World& world) {
  catch_stop_signals();
  return Batch(options, command_line, world).run();
}

}  // namespace residuum
