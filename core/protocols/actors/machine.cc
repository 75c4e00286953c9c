#include "core/protocols/actors/machine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/elementary.h"
#include "core/error.h"

namespace residuum {
namespace {

// A stream is keyed by worker and iteration; these bits of the worker keep the uses apart.
constexpr std::uint32_t kOfWindows = 1U << 30U;
constexpr std::uint32_t kOfMessages = 1U << 31U;

RandomStream machine_stream(std::uint64_t seed, std::uint32_t who, std::uint64_t number) {
  return {seed, Purpose::simulated_time, who, static_cast<std::uint32_t>(number)};
}

/// A gradient that spans more windows of stragglers than this, or an idle time that does, would
/// keep the simulation busy with nothing else.
constexpr int kMostWindows = 100'000;

bool positive_and_finite(double x) { return std::isfinite(x) && x > 0; }

}  // namespace

double TimeLaw::draw(RandomStream& random) const {
  switch (kind_) {
    case Kind::constant:
      return first_;
    case Kind::exponential:
      return first_ * random.exponential();
    case Kind::log_normal:
      return elementary::exp(first_ + second_ * random.normal());
    case Kind::pareto:
      return first_ * elementary::exp(random.exponential() / second_);
  }
  return 0;
}

void TimeLaw::check(const char* what) const {
  switch (kind_) {
    case Kind::constant:
      require(std::isfinite(first_) && first_ >= 0,
              "{} takes a constant of {} seconds; set a finite number >= 0",
              what,
              first_);
      break;
    case Kind::exponential:
      require(positive_and_finite(first_),
              "{} has an exponential mean of {}; set it > 0",
              what,
              first_);
      break;
    case Kind::log_normal:
      require(std::isfinite(first_) && std::isfinite(second_) && second_ >= 0,
              "{} has log-normal parameters mu = {} and sigma = {}; set finite ones, sigma >= 0",
              what,
              first_,
              second_);
      break;
    case Kind::pareto:
      require(positive_and_finite(first_) && positive_and_finite(second_),
              "{} has Pareto parameters scale = {} and alpha = {}; set both > 0",
              what,
              first_,
              second_);
      break;
  }
}

LinkDelay linear_delay(double alpha_seconds, double beta_seconds_per_byte) {
  require(std::isfinite(alpha_seconds) && alpha_seconds >= 0 &&
              std::isfinite(beta_seconds_per_byte) && beta_seconds_per_byte >= 0,
          "a link has alpha = {} s and beta = {} s/byte; set finite numbers >= 0",
          alpha_seconds,
          beta_seconds_per_byte);
  return [=](ActorId /*from*/, ActorId /*to*/, std::uint64_t bytes) {
    return alpha_seconds + beta_seconds_per_byte * static_cast<double>(bytes);
  };
}

Machine::Machine(MachineOptions options, const Roster& roster)
    : options_(std::move(options)), roster_(roster), ports_(roster.actors()) {
  const std::uint32_t workers = roster.workers;
  require(std::isfinite(options_.link_s_per_byte) && options_.link_s_per_byte >= 0,
          "a byte takes {} seconds on a link; set a finite number >= 0",
          options_.link_s_per_byte);
  options_.compute.check("the compute time");
  options_.jitter.check("the jitter of links");
  if (options_.speeds.empty()) {
    options_.speeds.assign(workers, 1.0);
  }
  require(options_.speeds.size() == workers,
          "{} speeds are given for {} workers; give one for each",
          options_.speeds.size(),
          workers);
  for (const double speed : options_.speeds) {
    require(positive_and_finite(speed), "a worker has a speed of {}; set it > 0", speed);
  }
  const Stragglers& slow = options_.stragglers;
  require(std::isfinite(slow.factor) && slow.factor >= 1,
          "stragglers are slowed by a factor of {}; set it >= 1",
          slow.factor);
  require(positive_and_finite(slow.normal_seconds) && positive_and_finite(slow.slow_seconds),
          "stragglers have windows of {} and {} seconds; set both > 0",
          slow.normal_seconds,
          slow.slow_seconds);
  if (slow.factor > 1) {
    windows_.resize(workers);
    for (std::uint32_t p = 0; p < workers; ++p) {
      windows_[p].end = window_length(p, 0);
    }
  }
}

double Machine::window_length(std::uint32_t worker, std::uint64_t number) const {
  RandomStream random = machine_stream(options_.seed, worker | kOfWindows, number);
  const bool is_slow = number % 2 == 1;
  return random.exponential() *
         (is_slow ? options_.stragglers.slow_seconds : options_.stragglers.normal_seconds);
}

double Machine::compute_end(std::uint32_t worker, std::uint64_t iteration, double start) {
  RandomStream random = machine_stream(options_.seed, worker, iteration);
  double work = options_.compute.draw(random) / options_.speeds[worker];
  require(
      std::isfinite(start + work),
      "virtual time has grown beyond all numbers: a gradient of worker {} would take {} seconds, "
      "begun at {} s; shorten protocol.compute",
      worker,
      work,
      start);
  if (windows_.empty()) {
    return start + work;
  }
  Window& window = windows_[worker];
  int windows = 0;
  const auto next_window = [&] {
    require(++windows <= kMostWindows,
            "a gradient of worker {} takes longer than {} windows of stragglers; make the windows "
            "longer or the times of gradients shorter",
            worker,
            kMostWindows);
    ++window.number;
    window.end += window_length(worker, window.number);
  };
  while (window.end < start) {
    next_window();
  }
  for (double time = start;;) {
    const double slowness = window.number % 2 == 1 ? options_.stragglers.factor : 1;
    const double done = (window.end - time) / slowness;  // of the work, until the window ends
    if (work <= done) {
      return time + work * slowness;
    }
    work -= done;
    time = window.end;
    next_window();
  }
}

/// Returns the actor that stands for the link of an actor: workers of a node share that of the
/// node.
std::size_t Machine::link_of(ActorId actor) const {
  const bool is_in_node = actor < roster_.workers && roster_.nodes > 0;
  return is_in_node ? roster_.node(actor / roster_.workers_of_node()) : actor;
}

double Machine::arrival(
    ActorId from, ActorId to, std::uint64_t bytes, std::uint64_t number, double now) {
  const double on_link = options_.link_s_per_byte * static_cast<double>(bytes);
  const double under_way = delay(from, to, bytes, number);
  require(
      std::isfinite(now + under_way + on_link),
      "virtual time has grown beyond all numbers: a message would take {} seconds, sent at {} s; "
      "choose a faster network",
      under_way + on_link,
      now);
  if (on_link == 0) {
    return now + under_way;
  }
  const double sent = ports_[link_of(from)].send(now, on_link);
  const double arrival = ports_[link_of(to)].receive(sent + under_way, on_link);
  require(std::isfinite(arrival),
          "virtual time has grown beyond all numbers: a message waits for its link until {} s; "
          "choose a faster network",
          arrival);
  return arrival;
}

double Machine::delay(ActorId from, ActorId to, std::uint64_t bytes, std::uint64_t number) const {
  double seconds = options_.delay(from, to, bytes);
  if (!options_.jitter.is_zero()) {
    RandomStream random = machine_stream(options_.seed, from | kOfMessages, number);
    seconds += options_.jitter.draw(random);
  }
  require(
      std::isfinite(seconds) && seconds >= 0,
      "a message from actor {} to actor {} takes {} seconds; set delays of links that are finite "
      "and >= 0",
      from,
      to,
      seconds);
  return seconds;
}

void Machine::save_or_load(ActorState& state) {
  for (Window& window : windows_) {
    state.value(window.number);
    state.value(window.end);
  }
  const std::size_t links = ports_.size();
  state.list(ports_, [&](Port& port) {
    state.value(port.sends_until);
    state.value(port.receives_until);
  });
  require(ports_.size() == links, "the saved state is of another number of actors");
}

}  // namespace residuum
