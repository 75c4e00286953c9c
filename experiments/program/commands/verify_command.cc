// `residuum verify` runs the study at several process counts, each under mpirun in a folder of its
// own. The collected iterations.csv must be the same bytes, columns of wall time aside, and so must
// the tables of details.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "core/child_program.h"
#include "core/cluster/mpi_world.h"
#include "core/record/tables.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/progress.h"
#include "experiments/program/console/signals.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/file_lock.h"
#include "experiments/program/runs/study_begin.h"
#include "experiments/program/study/detail_tables.h"
#include "experiments/program/study/foreign_code.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"
#include "experiments/program/study/study_keys.h"
#include "objectives/data/catalogue.h"
#include "reports/results/comparable_rows.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

namespace fs = std::filesystem;

/// Waits until the child has ended and returns what waitpid says of it. A request to stop is passed
/// on to the child as TERM.
int wait_or_stop(pid_t child, const std::string& name) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  bool told = false;
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) {
      return status;
    }
    if (ended < 0 && errno != EINTR) {
      resource_error("cannot wait for {}: {}", name, std::generic_category().message(errno));
    }
    if (stop_requested().load() && !told) {
      kill(child, SIGTERM);
      told = true;
    }
    std::this_thread::sleep_for(kPause);
  }
}

/// Starts a program with these arguments and its output discarded, all but errors, waits for it,
/// and returns its exit code.
int run_and_wait(const std::vector<std::string>& arguments) {
  std::error_code failure;
  const pid_t child =
      start_program({.words = arguments,
                     .streams = {ProgramStart::kNowhere, ProgramStart::kNowhere, STDERR_FILENO}},
                    failure);
  if (failure) {
    resource_error("cannot start {}: {}; is Open MPI installed and on the PATH?",
                   arguments.front(),
                   failure.message());
  }
  return exit_code_of(wait_or_stop(child, arguments.front()));
}

std::vector<std::string> run_arguments(const Options& options,
                                       const std::string& program,
                                       int ranks,
                                       const fs::path& out) {
  auto arguments = launch_words(ranks);
  arguments.insert(
      arguments.end(),
      {program, "run", options.study.string(), "--out", out.string(), "--progress=none"});
  for (const auto& change : options.overrides) {
    arguments.emplace_back("--set");
    arguments.push_back(change);
  }
  if (options.allow_commands) {
    arguments.emplace_back("--allow-commands");
  }
  if (options.data_dir) {
    arguments.emplace_back("--data-dir");
    arguments.push_back(*options.data_dir);
  }
  return arguments;
}

/// Returns how many rows a table has.
std::size_t rows_of(const fs::path& file) {
  reports::CsvReader reader(file);
  std::size_t rows = 0;
  while (reader.next()) {
    ++rows;
  }
  return rows;
}

/// A comparison of old results would verify nothing. Only those of the same study are removed.
void remove_old_results(const OutputPath& folder, const std::string& study) {
  if (fs::exists(fs::symlink_status(folder))) {
    const fs::path resolved = folder.path() / "study.resolved.json";
    require(!fs::is_symlink(folder.path()) && fs::exists(resolved),
            "{} exists and holds no study; give another --out",
            folder.string());
    reports::require_own_schema_in(folder.path());
    const std::string other = reports::text_at(reports::read_json(resolved), "name");
    require(other == study,
            "{} holds the results of study '{}', this one is '{}'; give another --out",
            folder.string(),
            other,
            study);
    require(remove_folder(folder), "{} cannot be removed; give another --out", folder.string());
  }
}

/// Returns the runs of the study. A mistake in the study shows here, before mpirun wraps it into
/// lines of its own.
std::vector<PreparedRun> prepared_runs(const Study& study, const Options& options) {
  ObjectiveCache objectives({.data_dir = data_directory(options.data_dir),
                             .cache_dir = cache_folder(),
                             .workers = 1,
                             .allow_commands = options.allow_commands,
                             .study_dir = options.study.parent_path()});
  auto runs = prepare_all(study, objectives);
  require_prepared(study, runs);
  return runs;
}

std::int64_t fewest_workers(const std::vector<PreparedRun>& runs) {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const auto& run : runs) {
    fewest = std::min<std::int64_t>(fewest, run.workers);
  }
  return fewest;
}

/// Returns the process counts that were asked for; more processes than workers would fail under
/// mpirun, in many lines.
std::vector<int> chosen_ranks(const std::vector<int>& asked, std::int64_t fewest) {
  constexpr int kUsual = 4;
  for (const int count : asked) {
    require(count >= 1 && count <= fewest,
            "--ranks: {} processes for {} workers; it takes 1 to {}",
            count,
            fewest,
            fewest);
  }
  std::vector<int> ranks = asked;
  for (int count = 1; asked.empty() && count <= std::min<std::int64_t>(kUsual, fewest); ++count) {
    ranks.push_back(count);
  }
  return ranks;
}

/// The command verifies equal bits, and with this key they are not promised.
void refuse_fast_reductions(const Study& study) {
  for (const auto& run : study.runs) {
    const auto aggregator = run.sections.find("aggregator");
    if (aggregator == run.sections.end() || !aggregator->second.contains("reduction")) {
      continue;
    }
    const Setting& reduction = aggregator->second.at("reduction");
    require(reduction.value != "fast",
            "'aggregator.reduction' at {}: with \"fast\" the bits depend on the number of "
            "processes, so there is nothing to verify; use --set aggregator.reduction=ordered",
            reduction.place);
  }
}

/// A real run is made of messages in the order in which they happen to arrive.
void refuse_real_runs(const Study& study) {
  const Setting* const execution = real_execution(study);
  require(execution == nullptr,
          "'protocol.execution' at {}: a real run is not bit-reproducible, so there is "
          "nothing to verify; use --set protocol.execution=simulated",
          execution == nullptr ? "" : execution->place);
}

/// Virtual time that is made of measured seconds differs from run to run.
void refuse_measured_times(const Study& study) {
  struct Measured {
    const char* section;
    const char* key;
    const char* cure;
  };
  constexpr std::array<Measured, 3> kMeasured{
      {{"network", "local", "--set network.local=none"},
       {"network", "layer_times", "a list of fractions"},
       {"protocol", "compute", "seconds, such as --set protocol.compute=0.01"}}};
  for (const auto& run : study.runs) {
    for (const auto& [section, key, cure] : kMeasured) {
      const auto given = run.sections.find(section);
      if (given == run.sections.end() || !given->second.contains(key)) {
        continue;
      }
      const Setting& setting = given->second.at(key);
      require(setting.value != "measured",
              "'{}.{}' at {}: measured seconds differ from run to run, and virtual time with them, "
              "so there is nothing to verify; use {}",
              section,
              key,
              setting.place,
              cure);
    }
  }
}

void allow_mpirun_as_root() {
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);          // NOLINT(concurrency-mt-unsafe)
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);  // NOLINT(concurrency-mt-unsafe)
  }
}

std::string processes(int count) {
  return fmt::format("{} process{}", count, count == 1 ? "" : "es");
}

/// A launcher of another MPI library starts every process alone: then the same run is compared with
/// itself.
void require_processes(const fs::path& folder, int ranks) {
  for (const auto& run : fs::directory_iterator(folder / "runs")) {
    std::ifstream in(run.path() / "status.json");
    const auto status = nlohmann::json::parse(in, nullptr, false);
    const int found = status.is_object() ? status.value("processes", ranks) : ranks;
    if (found != ranks) {
      resource_error(
          "{} has started {} in place of {}: it is of another MPI library than this program, which "
          "has {}",
          launch_words(ranks).front(),
          processes(found),
          ranks,
          mpi_library_version());
    }
  }
}

/// A study on other data has other bits, whatever the number of processes.
void require_same_data(const fs::path& folder, int ranks, const std::vector<PreparedRun>& runs) {
  const StudyData data = data_in(folder);
  for (const auto& run : runs) {
    const auto found = data.find(data_settings(run.config).dump());
    const std::string now = found == data.end() ? std::string() : found->second;
    require(now == run.data_fingerprint,
            "the data have changed since the command began (fingerprint {}, on {} {}); start it "
            "again when nobody writes them",
            run.data_fingerprint,
            processes(ranks),
            now);
  }
}

/// Runs the study on `ranks` processes and counts the measured iterations. Absent if a stop was
/// requested; a study that came to no end, or read other data than the `runs` here, is a usage
/// error.
std::optional<std::size_t> rows_at(int ranks,
                                   const OutputPath& out,
                                   const Options& options,
                                   const std::vector<PreparedRun>& runs,
                                   const std::string& program,
                                   bool& some_failed) {
  const int code = run_and_wait(run_arguments(options, program, ranks, out));
  if (stop_requested().load()) {
    return std::nullopt;
  }
  const bool has_failed_runs = code == static_cast<int>(ExitCode::runs_failed);
  some_failed = some_failed || has_failed_runs;
  require(code == 0 || code == static_cast<int>(ExitCode::check_failed) || has_failed_runs,
          "the study failed on {} with exit code {}",
          processes(ranks),
          code);
  require_processes(out, ranks);
  require_same_data(out, ranks, runs);
  const std::size_t rows = rows_of((out / "iterations.csv").path());
  require(rows > 0,
          "no run of the study came to its end on {}: there is nothing to compare; see {}",
          processes(ranks),
          (out / "runs.csv").string());
  return rows;
}

}  // namespace

ExitCode verify_command(const Options& options, const std::string& program) {
  const Study study =
      parse_study(read_study_file(options.study), options.study.string(), options.overrides);
  require_allowed(study, options.allow_commands);
  const auto top = OutputPath::named(output_folder(options, study.name + "-verify"));
  const auto runs = prepared_runs(study, options);
  const auto all_ranks = chosen_ranks(options.ranks, fewest_workers(runs));
  refuse_fast_reductions(study);
  refuse_real_runs(study);
  refuse_measured_times(study);
  const auto lock = FileLock::attempt(top / kStudyLock, FileLock::Kind::exclusive);
  require(lock != nullptr,
          "another process verifies in {}; wait for it or give another --out",
          top.string());
  allow_mpirun_as_root();
  bool all_equal = true;
  bool some_failed = false;
  const auto folder_of = [&](int ranks) { return top / fmt::format("ranks-{}", ranks); };
  for (const int ranks : all_ranks) {
    remove_old_results(folder_of(ranks), study.name);
    const auto rows = rows_at(ranks, folder_of(ranks), options, runs, program, some_failed);
    if (!rows) {
      say("stopped on request; what was verified so far stands above");
      return ExitCode::stopped;
    }
    const std::string differs =
        reports::first_difference(folder_of(all_ranks.front()).path(), folder_of(ranks).path());
    all_equal = all_equal && differs.empty();
    fmt::print(
        "{:>13}: {} rows, {}\n", processes(ranks), *rows, differs.empty() ? "identical" : differs);
  }
  fmt::print("{}\n", all_equal ? "PASS: the same bits at every process count" : "FAIL");
  if (some_failed) {
    fmt::print("Some runs failed or diverged; what they left is compared: see {}\n",
               (top / "*" / "runs.csv").string());
  }
  if (!all_equal) {
    return ExitCode::check_failed;
  }
  return some_failed ? ExitCode::runs_failed : ExitCode::done;
}

}  // namespace residuum
