#include "core/protocols/actors/simulation.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/error.h"

namespace residuum {

Simulation::Simulation(Cast cast, MachineOptions machine, Effects& driver)
    : cast_(std::move(cast)),
      machine_(std::move(machine), cast_.roster),
      log_(driver),
      messages_sent_(cast_.actors.size()) {}

std::optional<SimulatedVersion> Simulation::advance() {
  begin();
  const std::uint64_t before = made();
  if (before == cast_.versions) {
    while (!queue_.empty()) {
      run_event();
    }
    return std::nullopt;
  }
  while (made() == before) {
    if (queue_.empty()) {  // all actors wait for messages
      check_order(!was_loaded_);
      // Else it is our bug, as the options were checked.
      throw std::logic_error("an asynchronous protocol has come to a deadlock");
    }
    run_event();
  }
  SimulatedVersion notes = log_.take();
  notes.time = time_;
  return notes;
}

std::vector<std::uint64_t> Simulation::needed_versions() const {
  std::vector<std::uint64_t> versions;
  for (const auto& actor : cast_.actors) {
    if (const auto kept = actor->kept_version()) {
      versions.push_back(*kept);
    }
  }
  queue_.for_each([&](const Event& event) {
    if (event.message.kind == ActorMessageKind::model) {
      versions.push_back(event.message.version);
    }
  });
  std::sort(versions.begin(), versions.end());
  versions.erase(std::unique(versions.begin(), versions.end()), versions.end());
  return versions;
}

std::vector<std::byte> Simulation::save() {
  std::vector<std::byte> bytes;
  ActorState state(bytes);
  save_or_load(state);
  return bytes;
}

void Simulation::load(std::span<const std::byte> saved) {
  ActorState state(saved);
  save_or_load(state);
  require(state.is_at_end(), "the saved state is not one of this protocol: it is too long");
  queue_.for_each([&](const Event& event) {
    require(event.to < cast_.actors.size() && event.message.from < cast_.actors.size(),
            "the saved state is of another number of actors");
    check_saved(event.message.kind <= ActorMessageKind::computed && std::isfinite(event.time));
  });
  check_saved(std::isfinite(time_));
  was_loaded_ = true;
}

void Simulation::send(ActorId to, ActorMessage message) {
  message.from = acting_;
  double arrival = time_;
  if (!stays_in_node(message.kind)) {
    const std::uint64_t control = control_bytes(message);
    const std::uint64_t payload = has_payload(message.kind) ? log_.payload_bytes(message) : 0;
    log_.count_message(message, control, payload);
    arrival = machine_.arrival(acting_, to, control + payload, messages_sent_[acting_]++, time_);
  }
  queue_.push({.time = arrival, .to = to, .message = std::move(message)});
}

void Simulation::work(Work /*kind*/, ActorMessage when_done) {
  when_done.from = acting_;
  const double end = machine_.compute_end(acting_, when_done.iteration, time_);
  queue_.push({.time = end, .to = acting_, .message = std::move(when_done)});
}

void Simulation::begin() {
  if (std::exchange(has_begun_, std::uint8_t{1}) != 0) {
    return;
  }
  for (acting_ = 0; acting_ < cast_.actors.size(); ++acting_) {
    cast_.actors[acting_]->begin(*this);
  }
}

void Simulation::run_event() {
  const Event event = queue_.pop();
  time_ = event.time;
  acting_ = event.to;
  log_.count_event();
  cast_.actors[event.to]->receive(event.message, *this);
}

void Simulation::save_or_load(ActorState& state) {
  state.value(has_begun_);
  state.value(time_);
  log_.save_or_load(state);
  machine_.save_or_load(state);
  queue_.save_or_load(state);
  state.row(messages_sent_);
  for (const auto& actor : cast_.actors) {
    actor->save_or_load(state);
  }
}

}  // namespace residuum
