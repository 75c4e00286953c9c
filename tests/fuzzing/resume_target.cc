// A run that goes on from what its folder holds: status.json, tables, and a checkpoint whose state
// somebody has changed and given the right checksum.

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>

#include "assumptions/monitor.h"
#include "core/cluster/world.h"
#include "core/error.h"
#include "core/trainer/trainer.h"
#include "experiments/program/runs/checkpoint.h"
#include "experiments/program/runs/run_folder.h"
#include "experiments/program/runs/run_maker.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/run_config.h"
#include "experiments/program/study/study.h"
#include "tests/fuzzing/inputs.h"
#include "tests/fuzzing/targets.h"

namespace residuum::fuzzing {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kInterruptedAt = 6;

/// Studies whose runs keep different states from one iteration to the next.
constexpr auto kRunsOfOneKind = std::to_array<const char*>({
    "sparsifier.kind = 'top-k'\nsparsifier.k = 2\naggregator.kind = 'gtopk-tree'\n"
    "step.momentum = 0.5\n",
    "sparsifier.kind = 'top-k'\nsparsifier.k = 2\nprotocol.kind = 'asp'\n",
    "sparsifier.kind = 'top-k'\nsparsifier.k = 2\nprotocol.kind = 'inhad'\nprotocol.nodes = 2\n"
    "protocol.quota = 1\n",
    "sparsifier.kind = 'top-k'\nsparsifier.k = 2\nprotocol.kind = 'ssp'\nprotocol.staleness = 1\n",
    "sparsifier.kind = 'top-k'\nsparsifier.k = 2\naggregator.kind = 'ok-topk'\n"
    "feedback.kind = 'ef21-sgdm'\n",
    "sparsifier.kind = 'top-k'\nsparsifier.k = 2\naggregator.kind = 'gtopk-mask'\n"
    "feedback.kind = 'dgc'\nfeedback.momentum = 0.5\n",
    "protocol.kind = 'gossip'\nprotocol.graph = 'ring'\nprotocol.mixing = 'choco'\n"
    "protocol.consensus_step = 0.5\nfeedback.kind = 'none'\n"
    "sparsifier.kind = 'top-k'\nsparsifier.k = 2\n",
    "protocol.kind = 'local'\nprotocol.period = 2\nworkers.participation = 2\n",
    "sparsifier.kind = 'rand-k'\nsparsifier.k = 2\nfeedback.kind = 'econtrol'\n"
    "network.model = '1gbe'\nprotocol.compute = 'exponential:0.01'\n",
});

std::string study_text(std::size_t kind) {
  return std::string(
             "schema = 1\nname = 'fuzz'\nseeds = 1\nobjective.kind = 'logistic'\n"
             "objective.rows = 24\nobjective.features = 4\nworkers.count = 4\n"
             "workers.batch = 2\nstep.value = 0.1\nbudget.iterations = 12\n"
             "probes.every = 1\nprobes.times = false\nprobes.workers = true\n") +
         kRunsOfOneKind[kind];
}

struct Prepared {
  Study study;
  PreparedRun run;
};

Prepared prepared(std::size_t kind) {
  Study study = parse_study(study_text(kind), "fuzz.toml", {});
  ObjectiveCache objectives(ObjectiveContext{});
  auto runs = prepare_all(study, objectives);
  KnownKeys known;
  return {.study = study, .run = prepare(study.runs.front(), objectives, known)};
}

/// Trains the run in its folder, to its end or until `stop_at` iterations are done.
void attempt(const Prepared& of, RunFolder& folder, std::uint64_t stop_at) {
  PreparedRun run = of.run;
  const auto world = make_single_process();
  const auto cluster = run.protocol->cluster(*world, run.workers);
  std::atomic<bool> stop{false};
  run.training.cluster = &cluster;
  run.training.stop = &stop;
  const Facts facts = run.objective->facts();
  run.training.minimum = facts.minimum;
  run.training.minimizer = facts.minimizer;
  Monitor monitor(make_probes(run.probes, "'probes.names'"),
                  folder,
                  [&](std::uint64_t done, std::uint64_t /*total*/) { stop = done >= stop_at; });
  run.details.add_to(monitor);
  monitor.leave_out_times();
  constexpr double kNever = 1e9;  // but for the one when it stops
  RunCheckpoints checkpoints(cluster, &folder, monitor, kNever);
  run.training.checkpoints = &checkpoints;
  const Outcome outcome = checkpoints.guard([&] { return train(run.training, monitor); });
  folder.finish(outcome, monitor.summary(), run, nlohmann::json::object());
}

/// As RunMaker does it: what cannot be used is set aside, until the run begins anew.
void train_in(std::size_t kind, std::uint64_t stop_at) {
  std::optional<RunFolder> folder;
  for (;;) {
    const Prepared of = prepared(kind);
    if (!folder) {
      folder.emplace(scratch().path(), of.run, of.study);
    }
    try {
      attempt(of, *folder, stop_at);
      return;
    } catch (const RefusedCheckpoint& refused) {
      folder->refuse(refused.what());
    } catch (const Error&) {
      expect(false, "what a state holds ends no run");
    }
  }
}

using Files = std::map<std::string, std::string>;

/// The files of a run that was interrupted.
Files interrupted(std::size_t kind) {
  fs::remove_all(scratch().path() / "runs");
  train_in(kind, kInterruptedAt);
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(scratch().path() / "runs")) {
    if (entry.is_regular_file()) {
      std::ifstream file(entry.path(), std::ios::binary);
      files[entry.path().lexically_relative(scratch().path()).string()] = {
          std::istreambuf_iterator<char>(file), {}};
    }
  }
  return files;
}

const Files& interrupted_once(std::size_t kind) {
  static std::map<std::size_t, Files> known;
  const auto found = known.find(kind);
  return found != known.end() ? found->second
                              : known.emplace(kind, interrupted(kind)).first->second;
}

/// Overwrites eight bytes of the state for each ten bytes of `changes`: where, and by what.
void change_state(std::string& checkpoint, std::string_view changes) {
  constexpr std::size_t kHeadLengthAt = 12;
  constexpr std::size_t kHeadAt = 16;
  std::uint32_t head = 0;
  std::memcpy(&head, checkpoint.data() + kHeadLengthAt, sizeof head);
  const std::size_t begin = kHeadAt + head;
  const std::size_t end = checkpoint.size() - sizeof(std::uint32_t);
  for (constexpr std::size_t kEach = 10; changes.size() >= kEach; changes.remove_prefix(kEach)) {
    std::uint16_t place = 0;
    std::memcpy(&place, changes.data(), sizeof place);
    const std::size_t at = begin + place % (end - begin);
    const std::size_t size = std::min<std::size_t>(kEach - sizeof place, end - at);
    std::memcpy(checkpoint.data() + at, changes.data() + sizeof place, size);
  }
  const std::uint32_t sum = checksum(0, std::string_view(checkpoint).substr(0, end));
  std::memcpy(checkpoint.data() + end, &sum, sizeof sum);
}

bool is_checkpoint(const std::string& name) { return name.find("/state-") != std::string::npos; }

}  // namespace

void take_resumed_run(std::string_view bytes) {
  const auto parts = parts_of(bytes);
  const auto part = [&](const char* name) {
    const auto found = parts.find(name);
    return found == parts.end() ? std::optional<std::string_view>() : found->second;
  };
  const auto which = part("kind").value_or("0");
  const std::size_t kind =
      which.empty() ? 0 : static_cast<unsigned char>(which.front() - '0') % kRunsOfOneKind.size();
  const Files& files = interrupted_once(kind);
  fs::remove_all(scratch().path() / "runs");
  for (const auto& [name, content] : files) {
    std::string changed = content;
    if (is_checkpoint(name)) {
      change_state(changed, part("state").value_or(""));
    }
    const std::string file = fs::path(name).filename().string();
    fs::create_directories((scratch().path() / name).parent_path());
    scratch().write(name, part(file.c_str()).value_or(changed));
  }
  const std::string id = prepared(kind).run.id;
  const bool was_done = is_done(scratch().path(), id);
  if (!was_done) {
    train_in(kind, std::numeric_limits<std::uint64_t>::max());
  }
  expect(is_done(scratch().path(), id), "a run comes to its end");
}

}  // namespace residuum::fuzzing
