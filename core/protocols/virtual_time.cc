#include "core/protocols/virtual_time.h"

#include <algorithm>
#include <cassert>

#include "core/protocols/pace.h"

namespace residuum {

VirtualTime::VirtualTime(const Training& training, const SimulatedMachine& machine)
    : cluster_(*training.cluster),
      measures_compute_(machine.measures),
      transfers_(training.times_work) {
  if (training.overlap.rule != OverlapRule::none) {
    layers_.emplace(training);
  }
  auto networks = training.networks;
  if (networks.empty()) {
    networks.emplace_back();
  }
  for (const auto& network : networks) {
    times_.push_back({.network = network.name});
  }
  if (!cluster_.world().is_root()) {
    return;
  }
  const auto follow = [&](Part last, const NetworkModel& network) {
    followed_.push_back(
        {.last = last,
         .clocks = NetworkClocks(network, machine_options(training, machine), cluster_.workers())});
  };
  if (takes_time(machine)) {
    follow(Part::compute, {});
  }
  if (transfers_.times_work()) {
    follow(Part::select, {});
    follow(Part::merge, {});
  }
  for (const auto& network : networks) {
    follow(Part::wire, network);
  }
}

LocalSeconds VirtualTime::local_seconds() const {
  const auto workers = static_cast<std::size_t>(cluster_.count());
  return {.compute = std::vector<double>(measures_compute_ ? workers : 0),
          .select = std::vector<double>(transfers_.times_work() ? workers : 0)};
}

void VirtualTime::advance(std::uint64_t first, std::uint64_t count, const LocalSeconds& seconds) {
  if (cluster_.world().size() > 1) {
    cluster_.world().add_up(transfers_.amounts());
  }
  compute_ = of_all_workers(seconds.compute);
  select_ = of_all_workers(seconds.select);
  for (Followed& followed : followed_) {
    move(followed, first, count);
  }
  take_times();
}

void VirtualTime::begin_round(std::uint64_t round, const LocalSeconds& seconds) {
  compute_ = of_all_workers(seconds.compute);
  select_ = of_all_workers(seconds.select);
  for (Followed& followed : followed_) {
    followed.lagged.begin_round(followed.clocks);
    compute(followed, round, 1);
    select(followed);
    followed.lagged.compressed(followed.clocks);
  }
}

void VirtualTime::end_round() {
  for (Followed& followed : followed_) {
    followed.lagged.begin_exchange(followed.clocks);
    const double busy = followed.clocks.exchange_alone(transfers_, followed.last >= Part::merge);
    followed.lagged.end_exchange(busy, followed.clocks);
  }
  take_times();
}

void VirtualTime::move(Followed& followed, std::uint64_t first, std::uint64_t count) {
  if (layers_) {
    overlap(followed, first);
    return;
  }
  compute(followed, first, count);
  select(followed);
  followed.clocks.exchange(transfers_, followed.last >= Part::merge);
}

void VirtualTime::compute(Followed& followed, std::uint64_t first, std::uint64_t count) {
  if (compute_.empty()) {
    followed.clocks.compute(first, count);
  } else {
    followed.clocks.wait(compute_);
  }
}

void VirtualTime::select(Followed& followed) {
  if (followed.last >= Part::select && !select_.empty()) {
    followed.clocks.wait(select_);
  }
}

/// Makes a version of one gradient whose layers are exchanged as they are ready. The number of the
/// gradient is that of the version.
void VirtualTime::overlap(Followed& followed, std::uint64_t version) {
  NetworkClocks& clocks = followed.clocks;
  const auto times = [&] { return std::vector(clocks.times().begin(), clocks.times().end()); };
  LocalTimes local{.began = times()};
  compute(followed, version, 1);
  local.computed = times();
  select(followed);
  local.selected = times();
  followed.expected.take(local);
  const bool with_work = followed.last >= Part::merge;
  const auto parts = layers_->parts(version, followed.expected, [&](double share) {
    return clocks.seconds_of(share, transfers_, with_work);
  });
  clocks.exchange_in_parts(parts, local, transfers_, with_work);
  followed.exchanges = parts.size();
}

void VirtualTime::take_times() {
  if (followed_.empty()) {
    return;
  }
  const double computed = now(Part::compute, 0);
  const double selected = now(Part::select, computed);
  const double merged = now(Part::merge, selected);
  const std::size_t first = followed_.size() - times_.size();
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const double before = times_[i].total_s();
    times_[i].compute_s = computed;
    times_[i].select_s = selected - computed;
    times_[i].merge_s = merged - selected;
    times_[i].wire_s = followed_[first + i].clocks.now() - merged;
    times_[i].version_s = times_[i].total_s() - before;
    times_[i].exchanges = followed_[first + i].exchanges;
  }
}

/// Returns the time of the clocks that follow this part last, or `before` where it takes no time.
double VirtualTime::now(Part part, double before) const {
  const auto found = std::find_if(followed_.begin(), followed_.end(), [&](const auto& followed) {
    return followed.last == part;
  });
  return found == followed_.end() ? before : found->clocks.now();
}

std::vector<double> VirtualTime::of_all_workers(const std::vector<double>& mine) const {
  return mine.empty() ? std::vector<double>() : cluster_.all_gather(mine);
}

void VirtualTime::save_or_load_numbers(ActorState& state) {
  for (Followed& followed : followed_) {
    followed.clocks.save_or_load(state);
    followed.lagged.save_or_load(state, static_cast<std::size_t>(cluster_.workers()));
    if (layers_) {
      followed.expected.save_or_load(state);
    }
  }
  if (layers_) {
    layers_->save_or_load(state);
  }
}

void VirtualTime::save_or_load(RunState& state) {
  Bytes bytes;
  if (state.saves() && state.is_root()) {
    ActorState numbers(bytes);
    save_or_load_numbers(numbers);
  }
  state.root_list(bytes);
  if (!state.loads() || !state.is_root()) {
    return;
  }
  state.examine([&] {
    ActorState numbers{std::span<const std::byte>(bytes)};
    save_or_load_numbers(numbers);
    require(numbers.is_at_end(), "the saved clocks are not those of this protocol");
    take_times();
  });
}

std::optional<VirtualTime> virtual_time_of(const Training& training,
                                           const SimulatedMachine& machine) {
  const bool is_asked = !training.networks.empty() || takes_time(machine) || training.times_work;
  return is_asked && !machine.is_real ? std::optional<VirtualTime>(std::in_place, training, machine)
                                      : std::nullopt;
}

}  // namespace residuum
