// residuum run: every run of a study in turn; those that are done are skipped. Then the tables are
// collected.

#include <cstring>
#include <memory>
#include <optional>

#include "experiments/commands.h"
#include "experiments/folder_lock.h"
#include "experiments/progress.h"
#include "experiments/provenance.h"
#include "experiments/run_folder.h"
#include "experiments/signals.h"
#include "experiments/study.h"
#include "objectives/data/catalogue.h"
#include "reports/assumptions.h"
#include "reports/collect.h"
#include "reports/files.h"
#include "reports/result_folder.h"
#include "reports/table.h"

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
  world.broadcast(0, bytes);
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
    Progress progress(world_.is_root() ? options_.progress : ProgressStyle::none, planned_.size());
    bool stopped = false;
    std::size_t done_before = 0;
    for (std::size_t i = 0; i < planned_.size() && !stopped; ++i) {
      progress.start_run(label_of(planned_[i]));
      if (is_done_on_root(planned_[i].id)) {
        progress.end_run("done before", false);
        ++done_before;
        continue;
      }
      stopped = run_one(study_.runs[i], progress);
    }
    if (world_.is_root() && done_before > 0) {
      say(fmt::format("{} of {} runs were done before", done_before, planned_.size()));
    }
    ExitCode code = ExitCode::done;
    together(world_, [&] {
      if (world_.is_root()) {
        code = close(stopped);
      }
    });
    return static_cast<ExitCode>(world_.minimum(world_.is_root() ? static_cast<int>(code) : 255));
  }

 private:
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
    lock_.emplace(result_dir_);
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

  bool is_done_on_root(const std::string& id) {
    bool done = false;
    together(world_, [&] { done = world_.is_root() && is_done(result_dir_, id); });
    return world_.minimum(world_.is_root() ? (done ? 1 : 0) : 1) == 1;
  }

  /// Trains one run; true if a signal asked to stop.
  bool run_one(const RunSpec& spec, Progress& progress) {
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
    use_pilot(run);
    NoRecorder nothing;
    Recorder& recorder = folder ? static_cast<Recorder&>(*folder) : nothing;
    Monitor monitor(
        make_probes(run.probes, "'probes.names'"),
        recorder,
        [&](std::uint64_t done, std::uint64_t total) { progress.iteration(done, total); });
    const Outcome outcome = train(run.training, monitor);
    together(world_, [&] {
      if (folder) {
        folder->finish(outcome, monitor.summary(), run, provenance_);
        progress.end_run(describe(outcome), is_remarkable(outcome));
      }
    });
    return outcome.state == Outcome::State::stopped;
  }

  /// Finds the threshold of a run that asks for one. The run's identity stays what was asked.
  static void use_pilot(PreparedRun& run) {
    run.found = find_threshold(run.training);
    if (!run.found) {
      return;
    }
    auto method = std::make_shared<Method>(*run.method);
    method->sparsifier = run.method->sparsifier->with_threshold(run.found->threshold);
    run.method = std::move(method);
    run.training.method = run.method.get();
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

  /// Collects the tables and says how it went.
  ExitCode close(bool stopped) {
    const auto summary = reports::collect(result_dir_);
    if (options_.json) {
      fmt::print("{}\n", reports::study_table_json(summary).dump(2));
    } else {
      fmt::print("{}", reports::study_table(summary));
      fmt::print("{}", reports::verdict_lines(summary, reports::kTableLines - 2));
    }
    say(fmt::format(
        "results in {}; report: residuum report {}", result_dir_.string(), result_dir_.string()));
    if (stopped) {
      say("stopped on request: the same command goes on with the runs that are left");
      return ExitCode::stopped;
    }
    return verdict(summary);
  }

  /// From the folder, so that a second call that finds all runs done says the same.
  ExitCode verdict(const reports::Summary& summary) const {
    bool check_failed = false;
    if (options_.strict) {
      for (const auto& line : reports::failed_assumptions(summary)) {
        say(line);
        check_failed = true;
      }
    }
    bool run_failed = false;
    for (const auto& run : summary.folder.runs) {
      run_failed = run_failed || run.state != "finished";
      for (const auto& [name, check] : reports::value_at(run.status, "checks").items()) {
        const bool holds = check.value("holds", true);
        const bool matters = check.value("hard", false) && check.value("expected", true);
        if (!holds && matters) {
          say(fmt::format("{}: check '{}' failed at {} of {} iterations",
                          run.id,
                          name,
                          check.value("failures", 0),
                          check.value("n", 0)));
          check_failed = true;
        }
      }
    }
    if (check_failed) {
      return ExitCode::check_failed;
    }
    return run_failed ? ExitCode::runs_failed : ExitCode::done;
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
  std::optional<FolderLock> lock_;
};

}  // namespace

ExitCode run_command(const Options& options,
                     const std::vector<std::string>& command_line,
                     World& world) {
  catch_stop_signals();
  return Batch(options, command_line, world).run();
}

}  // namespace residuum
