#include "experiments/program/runs/run_maker.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "assumptions/monitor.h"
#include "assumptions/theorems/tight.h"
#include "core/cluster/mpi_world.h"
#include "core/error.h"
#include "core/notes.h"
#include "experiments/program/console/signals.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/job_digest.h"
#include "experiments/program/runs/provenance.h"
#include "experiments/program/runs/run_device.h"
#include "experiments/program/runs/run_status.h"
#include "experiments/program/study/prepare_all.h"
#include "experiments/program/study/worker_smoothness.h"
#include "objectives/network_module.h"
#include "reports/results/files.h"

namespace residuum {

/// Runs `action` together in the group; an error is also noted by the process that has it.
void RunMaker::in_step(const std::function<void()>& action) {
  together(setting_.group, [&] { setting_.log.guard(action); });
}

PreparedRun RunMaker::prepare_as_planned(const RunSpec& spec, const PreparedRun& planned) const {
  PreparedRun run;
  each_together(setting_.group, [&] {
    setting_.log.guard([&] {
      KnownKeys known;
      run = prepare(spec, setting_.objectives, known);
      require(run.data_fingerprint == planned.data_fingerprint && run.id == planned.id,
              "the data have changed since the job began (fingerprint {}, now {}); restore them, "
              "or start again with another --out",
              planned.data_fingerprint,
              run.data_fingerprint);
    });
  });
  return run;
}

/// Gradients that were read while the run went must still be those that it began with. If they are
/// not, checkpoints may hold what came of others, and are removed.
void RunMaker::check_data_at_end(const RunSpec& spec,
                                 const PreparedRun& run,
                                 const RunFolder* folder) {
  if (!run.objective->recorded_steps()) {
    return;
  }
  try {
    each_together(setting_.group, [&] {
      setting_.log.guard([&] {
        const std::string now = fingerprint_now(spec, setting_.objectives);
        require(now == run.data_fingerprint,
                "the data have changed while the run read them (fingerprint {}, now {}); start it "
                "again when nobody writes them",
                run.data_fingerprint,
                now);
      });
    });
  } catch (const SharedError&) {
    if (folder != nullptr) {
      folder->remove_checkpoints();
    }
    throw;
  }
}

/// Trains over real processes. If one of them is lost, a resume goes on at the last checkpoint.
Outcome RunMaker::train_really(Training& training, Monitor& monitor) const {
  LossWatch& watch = *setting_.watch;
  training.queue = &watch.queue();
  watch.set_cluster(*training.cluster);
  try {
    Outcome outcome = train(training, monitor);
    watch.set_cluster(std::nullopt);
    return outcome;
  } catch (const LostPeer& lost) {
    watch.end_job(lost);
    throw;
  } catch (const SharedError&) {
    watch.set_cluster(std::nullopt);
    watch.renew();
    throw;
  }
}

namespace {

/// Returns the `device` of a run on a network; nothing for other objectives.
std::optional<std::string> device_in(const RunSpec& spec) {
  const auto& objective = spec.sections.at("objective");
  const auto networks = network_objectives();
  const bool is_network =
      std::any_of(networks.begin(), networks.end(), [&](const ObjectiveEntry& entry) {
        return objective.at("kind").value == entry.name;
      });
  if (!is_network) {
    return std::nullopt;
  }
  const auto device = objective.find("device");
  return device == objective.end() ? "auto" : device->second.value.get<std::string>();
}

}  // namespace

namespace {

/// Beats while a run is made, also where that ends by an error.
class BeatingRun {
 public:
  BeatingRun(Heartbeat& heartbeat, const RunFolder* folder) : heartbeat_(heartbeat) {
    if (folder != nullptr) {
      heartbeat_.begin(folder->path(), folder->resumed_iterations());
    }
  }
  BeatingRun(const BeatingRun&) = delete;
  BeatingRun& operator=(const BeatingRun&) = delete;
  BeatingRun(BeatingRun&&) = delete;
  BeatingRun& operator=(BeatingRun&&) = delete;
  ~BeatingRun() { heartbeat_.end(); }

 private:
  Heartbeat& heartbeat_;
};

}  // namespace

/// Every checkpoint that is refused is set aside, so the attempts come to an end.
Outcome RunMaker::make(const RunSpec& spec,
                       const PreparedRun& planned,
                       const Study& study,
                       Progress& progress,
                       const std::function<void()>& after_iteration) {
  std::unique_ptr<RunFolder> folder;
  for (;;) {
    std::string refusal;
    try {
      return attempt(spec, planned, study, progress, after_iteration, folder);
    } catch (const RefusedCheckpoint& refused) {
      refusal = refused.what();
    }
    in_step([&] {
      if (folder) {
        folder->refuse(refusal);
      }
    });
  }
}

namespace {

/// A training outside that has lost a process goes on from its own checkpoint, and the run with it:
/// the measured rows stay.
Outcome keeping_what_was_measured(const std::function<Outcome()>& training,
                                  const PreparedRun& run,
                                  const RunSummary& summary,
                                  const nlohmann::json& provenance,
                                  RunFolder* folder) {
  try {
    return training();
  } catch (const Error& error) {
    const bool is_lost = run.objective->source() != nullptr && error.code() == ExitCode::resource;
    if (is_lost && folder != nullptr && summary.rows > 0) {
      Outcome lost;
      lost.state = Outcome::State::stopped;
      lost.message = error.what();
      folder->finish(lost, summary, run, provenance);
    }
    throw;
  }
}

nlohmann::json with_devices(nlohmann::json provenance, const RunSpec& spec, World& group) {
  if (const auto device = device_in(spec)) {
    provenance["devices"] = network_devices(group, *device);
  }
  return provenance;
}

/// Adds the constants that theorems of gradient estimates, of models that part and of Lyapunov
/// functions ask for.
void add_constants(PreparedRun& run) {
  const Synchrony synchrony = law_of(run).synchrony;
  const bool parts = synchrony == Synchrony::periodic || synchrony == Synchrony::neighbours;
  const bool wants_lyapunov = run.training.plan.lyapunov;
  if (run.method->feedback->estimates() || parts || wants_lyapunov) {
    run.training.worker_smoothness = worker_smoothness(run);
  }
  if (wants_lyapunov) {
    run.training.lyapunov = lyapunov_facts(run_facts(run), run.method->step_rule->at(0, 0));
  }
}

}  // namespace

/// The root makes the folder once; a further attempt goes on with it.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
Outcome RunMaker::attempt(const RunSpec& spec,
                          const PreparedRun& planned,
                          const Study& study,
                          Progress& progress,
                          const std::function<void()>& after_iteration,
                          std::unique_ptr<RunFolder>& folder) {
  PreparedRun run = prepare_as_planned(spec, planned);
  std::optional<Cluster> cluster;
  in_step([&] {
    cluster.emplace(run.protocol->cluster(setting_.group, run.workers));
    run.training.cluster = &*cluster;
    const Facts facts = run.objective->facts();
    run.training.minimum = facts.minimum;
    run.training.minimizer = facts.minimizer;
    run.training.stop = &stop_requested();
    if (setting_.group.is_root()) {
      if (!folder) {
        folder = std::make_unique<RunFolder>(setting_.result_dir, run, study);
      }
      add_constants(run);
    }
  });
  const BeatingRun beating(heartbeat_, folder.get());
  use_pilot(run, folder.get());
  start_processes(run, *cluster);
  const std::unique_ptr<Device> device = place_memories(run);
  auto provenance = with_devices(setting_.provenance, spec, setting_.group);
  NoRecorder nothing;
  Recorder& recorder = folder ? static_cast<Recorder&>(*folder) : nothing;
  Monitor monitor(make_probes(run.probes, "'probes.names'"),
                  recorder,
                  [&](std::uint64_t done, std::uint64_t total) {
                    heartbeat_.iteration(done);
                    progress.iteration(done, total);
                    after_iteration();
                  });
  run.details.add_to(monitor);
  if (!run.records_times) {
    monitor.leave_out_times();
  }
  RunCheckpoints checkpoints(*cluster, folder.get(), monitor, setting_.checkpoint_every_s);
  run.training.checkpoints = &checkpoints;
  const auto training = [&] {
    return law_of(run).is_real ? train_really(run.training, monitor) : train(run.training, monitor);
  };
  Outcome outcome = checkpoints.guard([&] {
    return keeping_what_was_measured(training, run, monitor.summary(), provenance, folder.get());
  });
  check_data_at_end(spec, run, folder.get());
  if (device != nullptr) {
    provenance["worker_memory"] = device_record(setting_.group, *device);
  }
  in_step([&] {
    if (folder) {
      folder->finish(outcome, monitor.summary(), run, provenance);
      progress.end_run(describe(outcome), notice_of(outcome));
    }
  });
  return outcome;
}

namespace {

/// Removes the vectors that an earlier start of the run has left beside its folder.
void remove_vectors(const OutputPath& runs, const std::string& run_id) {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(runs.path())) {
    const std::string name = file.path().filename().string();
    if (name.starts_with(run_id + ".worker-") && name.ends_with(".npy")) {
      names.push_back(name);
    }
  }
  for (const auto& name : names) {
    remove_file(runs / name);
  }
}

}  // namespace

/// Starts the processes of a sparsifier that selects by some. They end with the run.
void RunMaker::start_processes(PreparedRun& run, const Cluster& cluster) {
  if (!run.method->sparsifier->can_fail()) {
    return;
  }
  in_step([&] {
    const OutputPath runs = OutputPath::named(setting_.result_dir) / "runs";
    if (setting_.group.is_root()) {
      remove_vectors(runs, run.id);
    }
    auto started = run.method->sparsifier->started(
        {.first = cluster.first(), .count = cluster.count(), .vectors = runs.path() / run.id});
    if (started) {
      auto method = std::make_shared<Method>(*run.method);
      method->sparsifier = std::move(started);
      run.method = std::move(method);
      run.training.method = run.method.get();
    }
  });
}

/// Puts the memories of the workers on the device that the run wants, which is returned: it must
/// outlive the training. They stay on the host where something has no form for it. What is done on
/// the host is said once.
std::unique_ptr<Device> RunMaker::place_memories(PreparedRun& run) {
  if (!run.wants_device) {
    return nullptr;
  }
  for (const std::string& note : host_notes(run)) {
    if (said_.insert(note).second) {
      tell(NoteKind::note, note);
    }
  }
  if (!run.device_obstacle.empty()) {
    return nullptr;
  }
  std::unique_ptr<Device> device;
  in_step([&] { device = make_run_device(run, setting_.group.local_rank()); });
  check_room(setting_.group, *device, run);
  run.training.device = device.get();
  return device;
}

/// Finds the threshold of a run that asks for one. The run's identity stays what was asked.
void RunMaker::use_pilot(PreparedRun& run, RunFolder* folder) {
  run.found = folder != nullptr ? folder->found() : std::nullopt;
  setting_.group.broadcast(0, std::as_writable_bytes(std::span(&run.found, 1)));
  if (!run.found) {
    run.found = find_threshold(
        run.training, [this](int number, std::uint64_t done) { heartbeat_.pilot(number, done); });
    heartbeat_.pilot(0, 0);
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

void Heartbeat::begin(const OutputPath& run_folder, std::uint64_t done) {
  const std::lock_guard lock(mutex_);
  file_ = run_folder / "heartbeat.json";
  remove_file(*file_);
  pilot(0, done);
  ++begun_;
  wake_.notify_all();
  if (thread_.joinable()) {
    return;
  }
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { beat(stop); });
  } catch (const std::system_error&) {
    file_.reset();  // no memory for a thread is no reason to end the run
  }
}

void Heartbeat::end() {
  const std::lock_guard lock(mutex_);
  if (file_) {
    remove_file(*file_);
    file_.reset();
  }
}

void Heartbeat::beat(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  Clock::duration pause = pace_.period;
  while (!stop.stop_requested()) {
    const std::uint64_t run = begun_;
    if (wake_.wait_for(lock, stop, pause, [&] { return begun_ != run; })) {
      pause = pace_.period;  // another run has begun
      continue;
    }
    if (!file_ || stop.stop_requested()) {
      continue;
    }
    const auto start = Clock::now();
    write(std::chrono::duration<double>(pause).count());
    pause = std::max<Clock::duration>(pace_.period, pace_.times * (Clock::now() - start));
  }
}

/// Writes the file whole or not at all, and through no link.
void Heartbeat::write(double every_s) {
  try {
    const Clock::time_point since{Clock::duration(since_.load(std::memory_order_relaxed))};
    reports::write_json_atomically(
        *file_,
        {{"iteration", done_.load(std::memory_order_relaxed)},
         {"pilot", pilot_.load(std::memory_order_relaxed)},
         {"every_s", every_s},
         {"resumed_at", resumed_at_.load(std::memory_order_relaxed)},
         {"trained_s", std::chrono::duration<double>(Clock::now() - since).count()}});
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
    // Only `watch` needs it, and the next beat may find room on the disk.
  }
}

namespace {

/// A process waits so long for each lower one to speak and to end the job, and then itself speaks.
constexpr std::chrono::milliseconds kTimeToSpeak{2000};
/// A line needs some time to leave the process.
constexpr std::chrono::milliseconds kTimeToPrint{100};

/// How often the message queue is polled: it takes no time from the runs, and a sign is sent much
/// more seldom.
constexpr std::chrono::milliseconds kSeldom{50};
constexpr std::chrono::milliseconds kAsNeeded{0};

/// Returns the names of the machines of all processes, by rank. Collective.
std::vector<std::string> hosts_of(World& group) {
  const std::string own = host_name();
  Gathered all;
  group.all_gather(std::as_bytes(std::span(own)), all);
  std::vector<std::string> hosts;
  for (std::size_t rank = 0; rank < all.parts(); ++rank) {
    std::string& host = hosts.emplace_back(all.part(rank).size(), '\0');
    std::memcpy(host.data(), all.part(rank).data(), host.size());
  }
  return hosts;
}

std::string workers_in_words(const Cluster& cluster, int rank) {
  int first = 0;
  while (cluster.host(first) != rank) {
    ++first;
  }
  int last = first;
  while (last + 1 < cluster.workers() && cluster.host(last + 1) == rank) {
    ++last;
  }
  return first == last ? fmt::format("worker {}", first)
                       : fmt::format("workers {} to {}", first, last);
}

}  // namespace

LossWatch::LossWatch(const World& job, World& group, Use use)
    : group_(group), first_rank_(job.rank() - group.rank()), use_(use), hosts_(hosts_of(group)) {
  open();
}

void LossWatch::open() {
  const bool is_for_messages = use_ == Use::messages;
  if (group_.size() == 1 || (!is_for_messages && !mpi_serves_threads())) {
    queue_ = make_single_message_queue();
    return;
  }
  queue_ = make_mpi_message_queue(group_,
                                  {.first_rank = first_rank_,
                                   .last_resort = [this](const LostPeer& lost) { end_job(lost); },
                                   .look_every = is_for_messages ? kAsNeeded : kSeldom});
}

void LossWatch::close() {
  try {
    queue_->close();
  } catch (const LostPeer& lost) {
    end_job(lost);
  }
}

void LossWatch::renew() {
  queue_->close();
  queue_.reset();
  open();
}

void LossWatch::set_cluster(const std::optional<Cluster>& cluster) {
  const std::lock_guard lock(mutex_);
  cluster_ = cluster;
}

void LossWatch::end_job(const LostPeer& lost) {
  std::call_once(ending_, [&] {
    const int own = group_.rank();
    const int before = own - (lost.rank() < own ? 1 : 0);
    std::this_thread::sleep_for(before * kTimeToSpeak);
    say(lost);
    std::this_thread::sleep_for(kTimeToPrint);
    group_.abort(ExitCode::resource);
  });
}

void LossWatch::say(const LostPeer& lost) {
  const std::lock_guard lock(mutex_);
  std::string hosted;
  if (cluster_) {
    hosted =
        fmt::format(". It hosted {}",
                    lost.rank() == 0 ? "the server" : workers_in_words(*cluster_, lost.rank()));
  }
  residuum::say(fmt::format("{}. It ran on {}{}. The same command goes on from the last checkpoint",
                            lost.what(),
                            hosts_[static_cast<std::size_t>(lost.rank())],
                            hosted));
}

namespace {

/// Does the same as `together`, and says that the checkpoint is why. A process that has run out of
/// memory tells nothing of the checkpoint.
void together_or_refuse(World& world, const std::function<void()>& action) {
  std::optional<Error> mine;
  together(world, [&] {
    try {
      action();
    } catch (const Error& error) {
      mine = error;
    }
  });
  try {
    together(world, [&] {
      if (mine) {
        throw Error(*mine);
      }
    });
  } catch (const SharedError& error) {
    throw RefusedCheckpoint(error.code(), error.what());
  }
}

}  // namespace

/// Returns the first error of loading, on this process. The state begins with its iteration, so
/// that the head of another one does not go with it.
std::optional<Error> RunCheckpoints::pass(StateStream* stream,
                                          RunState::Direction direction,
                                          const SaveOrLoad& state,
                                          std::uint64_t iteration) {
  RunState run(cluster_, stream, direction);
  std::uint64_t of_state = iteration;
  run.shared(of_state);
  run.examine([&] {
    require(of_state == iteration,
            "its state is of iteration {}, and its head of {}",
            of_state,
            iteration);
  });
  state(run);
  monitor_.save_or_load(run);
  return run.damage();
}

std::uint64_t RunCheckpoints::load(const SaveOrLoad& state) {
  std::int64_t mine = std::numeric_limits<std::int64_t>::max();
  if (folder_ != nullptr) {
    mine = static_cast<std::int64_t>(folder_->resumed_iterations());
  }
  const std::int64_t done = cluster_.world().minimum(mine);
  if (done == 0) {
    return 0;
  }
  const auto iteration = static_cast<std::uint64_t>(done);
  measure(state);
  load_whole(state, iteration);
  together(cluster_.world(), [&] {
    if (folder_ != nullptr) {
      folder_->go_on();
    }
  });
  has_loaded_ = true;
  return iteration;
}

Outcome RunCheckpoints::guard(const std::function<Outcome()>& training) {
  try {
    return training();
  } catch (const RefusedCheckpoint&) {
    throw;
  } catch (const SharedError& error) {
    if (!is_of_state(error)) {
      throw;
    }
    throw RefusedCheckpoint(error.code(), error.what());
  } catch (const Error& error) {
    if (is_of_state(error) && cluster_.world().size() == 1) {
      throw RefusedCheckpoint(error.code(), error.what());
    }
    if (is_of_state(error) && folder_ != nullptr) {
      folder_->refuse(error.what());
    }
    throw;
  }
}

/// Throws unless the state has the length of this training's. Nothing is loaded yet.
void RunCheckpoints::measure(const SaveOrLoad& state) {
  together_or_refuse(cluster_.world(), [&] {
    if (folder_ != nullptr) {
      folder_->load([&](StateStream& stream) {
        static_cast<void>(pass(&stream, RunState::Direction::measure, state, 0));
      });
    }
  });
}

void RunCheckpoints::load_whole(const SaveOrLoad& state, std::uint64_t iteration) {
  const auto load = [&](StateStream* stream) {
    if (const auto damage = pass(stream, RunState::Direction::load, state, iteration)) {
      throw Error(*damage);
    }
  };
  together_or_refuse(cluster_.world(), [&] {
    if (folder_ != nullptr) {
      folder_->load([&](StateStream& stream) { load(&stream); });
    } else {
      load(nullptr);
    }
  });
}

bool RunCheckpoints::due() {
  return std::chrono::duration<double>(Clock::now() - saved_).count() > every_s_;
}

bool RunCheckpoints::is_of_state(const Error& error) const {
  return has_loaded_ && error.code() == ExitCode::usage;
}

void RunCheckpoints::save(std::uint64_t iterations, const SaveOrLoad& state) {
  constexpr auto kSave = RunState::Direction::save;
  if (folder_ != nullptr) {
    folder_->save(iterations, [&](StateStream& stream) {
      static_cast<void>(pass(&stream, kSave, state, iterations));
    });
  } else {
    static_cast<void>(pass(nullptr, kSave, state, iterations));
  }
  saved_ = Clock::now();
}

}  // namespace residuum
