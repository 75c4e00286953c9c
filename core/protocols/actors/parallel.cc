#include "core/protocols/actors/parallel.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <string>
#include <utility>

#include "core/protocols/actors/actor_message.h"

namespace residuum {

ComputeThread::ComputeThread() : thread_([this] { work(); }) {}

ComputeThread::~ComputeThread() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void ComputeThread::add(std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

void ComputeThread::add_at(Clock::time_point time, std::function<void()> job) {
  const std::lock_guard lock(mutex_);
  later_.emplace(time, std::move(job));
  changed_.notify_all();
}

void ComputeThread::hurry() {
  const std::lock_guard lock(mutex_);
  hurries_ = true;
  changed_.notify_all();
}

void ComputeThread::work() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    const auto job = next_job();
    if (!job) {
      wait(lock);
      continue;
    }
    lock.unlock();
    (*job)();
    lock.lock();
  }
}

/// Takes the first job that is due, if there is one.
std::optional<ComputeThread::Job> ComputeThread::next_job() {
  std::optional<Job> job;
  if (!later_.empty() && (hurries_ || later_.begin()->first <= Clock::now())) {
    job = std::move(later_.begin()->second);
    later_.erase(later_.begin());
  } else if (!jobs_.empty()) {
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  return job;
}

/// Waits until something may be due.
void ComputeThread::wait(std::unique_lock<std::mutex>& lock) {
  if (later_.empty()) {
    changed_.wait(lock);
  } else {
    changed_.wait_until(lock, Clock::time_point(later_.begin()->first));
  }
}

namespace {

/// A request to stop is seen after this time at the latest.
constexpr std::chrono::milliseconds kLook{50};

/// Returns `seconds`, ten years at most, as a duration that can be added to the current time.
ComputeThread::Clock::duration as_clock_time(double seconds) {
  constexpr double kMost = 3.2e8;
  return std::chrono::duration_cast<ComputeThread::Clock::duration>(
      std::chrono::duration<double>(std::min(seconds, kMost)));
}

}  // namespace

/// A frame is a message between two Parallels; it begins with its kind.
enum class Parallel::Frame : std::uint64_t {
  message,    // of an actor, and what travels with it
  reached,    // server to all: a version that all wait for is made
  ended,      // server to all: the last version is made, the actors have been told
  stop,       // to the server: make no further version
  quiet,      // to the server: this process will send no more messages
  discarded,  // server to all: it has all messages; these gradients are in no version
  failure,    // to all: an Error was thrown
  broken,     // compute thread to its own process: it has failed
};

Bytes Parallel::begin_frame(Frame kind) {
  Bytes frame;
  pack(static_cast<std::uint64_t>(kind), frame);
  return frame;
}

class Parallel::HeldEffects final : public Effects {
 public:
  explicit HeldEffects(Effects& training) : training_(training) {}

  /// Returns the gradient of the last READ.
  const GradientId& reading() const { return reading_; }
  std::vector<GradientId>& discarded() { return discarded_; }
  void release() {
    for (const GradientId& gradient : std::exchange(discarded_, {})) {
      training_.discard(gradient);
    }
  }

  void compute(const GradientId& gradient) override {
    reading_ = gradient;
    training_.compute(gradient);
  }
  void hand_in(const GradientId& gradient, int node) override { training_.hand_in(gradient, node); }
  void collect(int node, std::span<const GradientId> gradients) override {
    training_.collect(node, gradients);
  }
  void make_version(std::uint64_t version, std::span<const GradientId> gradients) override {
    training_.make_version(version, gradients);
  }
  void discard(const GradientId& gradient) override { discarded_.push_back(gradient); }
  void waited(Wait cause, double seconds) override { training_.waited(cause, seconds); }
  std::uint64_t payload_bytes(const ActorMessage& /*message*/) override { return 0; }

 private:
  Effects& training_;
  GradientId reading_;
  std::vector<GradientId> discarded_;
};

Parallel::Parallel(
    Cast cast, Placement placement, MessageQueue& queue, Site site, std::function<bool()> stops)
    : cast_(std::move(cast)),
      placement_(std::move(placement)),
      queue_(queue),
      site_(site),
      stops_(std::move(stops)),
      held_(std::make_unique<HeldEffects>(site.effects)),
      log_(*held_) {
  assert(placement_.hosts.size() == cast_.actors.size());
}

Parallel::~Parallel() = default;

bool Parallel::advance_to(std::uint64_t version) {
  assert(version <= cast_.versions);
  guard([&] {
    begin();
    while (made_ < version && !has_ended_) {
      heed_stop();
      serve_once();
    }
    if (is_server() && made_ >= version) {
      Bytes frame = begin_frame(Frame::reached);
      pack(made_, frame);
      send_to_others(frame);
    }
  });
  return made_ >= version;
}

void Parallel::finish() {
  guard([&] {
    begin();
    if (is_server()) {
      end();
    }
    while (!has_ended_ || !is_idle()) {
      serve_once();
    }
    if (is_server()) {
      while (quiet_ < queue_.size() - 1 || !is_idle()) {
        serve_once();
      }
      send_discarded();
    } else {
      queue_.send(placement_.host(cast_.roster.server()), begin_frame(Frame::quiet));
      while (!is_over_) {
        serve_once();
      }
    }
    held_->release();
  });
}

SimulatedVersion Parallel::take_notes() {
  SimulatedVersion notes = log_.take();
  notes.time = now();
  return notes;
}

void Parallel::send(ActorId to, ActorMessage message) {
  message.from = acting_;
  Bytes frame = begin_frame(Frame::message);
  pack({.to = to, .message = message}, frame);
  const std::size_t without_payload = frame.size();
  const std::uint64_t numbers =
      has_payload(message.kind) ? site_.payloads.pack(message, to, frame) : 0;
  if (acting_ == cast_.roster.server()) {
    count(message, numbers, frame.size() - without_payload);
  }
  own_messages_ += is_here(to) ? 1 : 0;
  queue_.send(placement_.host(to), std::move(frame));
}

void Parallel::work(Work /*kind*/, ActorMessage when_done) {
  when_done.from = acting_;
  ++own_messages_;
  const GradientId gradient = held_->reading();
  const double seconds = site_.payloads.least_seconds(gradient);
  std::optional<ComputeThread::Clock::time_point> ready;
  if (seconds > 0) {
    ready = ComputeThread::Clock::now() + as_clock_time(seconds);
  }
  thread_.add([this, gradient, message = std::move(when_done), ready] {
    compute(gradient, message, ready);
  });
}

double Parallel::now() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
}

/// Does a job of the compute thread. A gradient that is to last longer is handed in by a later one.
void Parallel::compute(const GradientId& gradient,
                       const ActorMessage& when_done,
                       std::optional<ComputeThread::Clock::time_point> ready) {
  queue_.await_room();
  Frame kind = Frame::message;
  try {
    site_.payloads.calculate(gradient);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    kind = Frame::broken;
  }
  Bytes frame = begin_frame(kind);
  pack({.to = when_done.from, .message = when_done}, frame);
  if (ready && kind == Frame::message) {
    thread_.add_at(*ready, [this, done = std::move(frame)]() mutable {
      queue_.send(queue_.rank(), std::move(done));
    });
  } else {
    queue_.send(queue_.rank(), std::move(frame));
  }
}

/// Lets all processes throw the Error that `action` throws on this one.
void Parallel::guard(const std::function<void()>& action) {
  try {
    action();
  } catch (const LostPeer&) {
    throw;
  } catch (const SharedError&) {
    throw;
  } catch (const Error& error) {
    tell_failure(error.code(), error.what());
    throw SharedError(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    constexpr std::string_view kMessage = "out of memory";
    tell_failure(ExitCode::resource, kMessage);
    throw SharedError(ExitCode::resource, kMessage);
  }
}

void Parallel::tell_failure(ExitCode code, std::string_view message) {
  Bytes frame = begin_frame(Frame::failure);
  pack(static_cast<std::uint64_t>(code), frame);
  const auto text = std::as_bytes(std::span(message));
  frame.insert(frame.end(), text.begin(), text.end());
  send_to_others(frame);
}

void Parallel::begin() {
  if (std::exchange(has_begun_, true)) {
    return;
  }
  for (acting_ = 0; acting_ < cast_.actors.size(); ++acting_) {
    if (is_here(acting_)) {
      cast_.actors[acting_]->begin(*this);
    }
  }
}

void Parallel::serve_once() {
  if (const auto incoming = queue_.next(kLook)) {
    open(*incoming);
  }
}

void Parallel::open(const Incoming& incoming) {
  std::span<const std::byte> bytes = incoming.bytes;
  switch (static_cast<Frame>(unpack_number(bytes))) {
    case Frame::message:
      deliver(incoming.from, bytes);
      return;
    case Frame::reached:
      made_ = unpack_number(bytes);
      return;
    case Frame::ended:
      made_ = unpack_number(bytes);
      has_ended_ = true;
      thread_.hurry();
      return;
    case Frame::stop:
      end();
      return;
    case Frame::quiet:
      ++quiet_;
      return;
    case Frame::discarded:
      take_discarded(bytes);
      return;
    case Frame::failure:
      throw_failure(bytes);
    case Frame::broken: {
      const std::lock_guard lock(mutex_);
      std::rethrow_exception(failure_);
    }
  }
  check_actor_message(false);
}

void Parallel::deliver(int from, std::span<const std::byte> bytes) {
  const AddressedMessage addressed = unpack_actor_message(bytes, cast_.roster);
  const ActorMessage& message = addressed.message;
  check_actor_message(is_here(addressed.to) && placement_.host(message.from) == from);
  own_messages_ -= from == queue_.rank() ? 1 : 0;
  const std::uint64_t numbers =
      has_payload(message.kind) ? site_.payloads.unpack(message, addressed.to, bytes) : 0;
  if (addressed.to == cast_.roster.server()) {
    count(message, numbers, bytes.size());
  }
  let_act(addressed.to, message);
}

/// Counts a message from or to the server, to which Payloads has appended bytes.
void Parallel::count(const ActorMessage& message, std::uint64_t numbers, std::uint64_t appended) {
  log_.count_message(message, control_bytes(message) + appended - numbers, numbers);
}

void Parallel::let_act(ActorId actor, const ActorMessage& message) {
  acting_ = actor;
  log_.count_event();
  cast_.actors[actor]->receive(message, *this);
  if (is_server()) {
    made_ = log_.made();
  }
}

void Parallel::throw_failure(std::span<const std::byte> bytes) {
  const auto code = static_cast<ExitCode>(unpack_number(bytes));
  std::string message(bytes.size(), '\0');
  std::copy(bytes.begin(), bytes.end(), std::as_writable_bytes(std::span(message)).begin());
  throw SharedError(code, message);
}

void Parallel::take_discarded(std::span<const std::byte> bytes) {
  for (const GradientId& gradient : unpack_gradients(bytes, cast_.roster)) {
    held_->discard(gradient);
  }
  is_over_ = true;
}

/// Passes a request to stop to the server.
void Parallel::heed_stop() {
  if (!stops_ || !stops_()) {
    return;
  }
  if (is_server()) {
    end();
  } else if (!std::exchange(has_asked_, true)) {
    queue_.send(placement_.host(cast_.roster.server()), begin_frame(Frame::stop));
  }
}

/// Tells all processes, on that of the server, that no version follows.
void Parallel::end() {
  if (std::exchange(has_ended_, true)) {
    return;
  }
  thread_.hurry();
  if (made_ < cast_.versions) {
    const ActorId server = cast_.roster.server();
    let_act(server, {.kind = ActorMessageKind::stop, .from = server});
  }
  Bytes frame = begin_frame(Frame::ended);
  pack(made_, frame);
  send_to_others(frame);
}

/// Sends every gradient that the server has discarded to the process of its worker.
void Parallel::send_discarded() {
  const int processes = queue_.size();
  std::vector<std::vector<GradientId>> of_process(static_cast<std::size_t>(processes));
  for (const GradientId& gradient : held_->discarded()) {
    const int host = placement_.host(Roster::worker(gradient.worker));
    of_process[static_cast<std::size_t>(host)].push_back(gradient);
  }
  const auto own = static_cast<std::size_t>(queue_.rank());
  held_->discarded() = std::exchange(of_process[own], {});
  for (int to = 0; to < processes; ++to) {
    if (to != queue_.rank()) {
      Bytes frame = begin_frame(Frame::discarded);
      pack(of_process[static_cast<std::size_t>(to)], frame);
      queue_.send(to, std::move(frame));
    }
  }
}

void Parallel::send_to_others(const Bytes& frame) {
  for (int to = 0; to < queue_.size(); ++to) {
    if (to != queue_.rank()) {
      queue_.send(to, frame);
    }
  }
}

}  // namespace residuum
