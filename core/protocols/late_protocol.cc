#include "core/protocols/late_protocol.h"

#include "core/protocols/expected_gradients.h"
#include "core/protocols/real_loop.h"

namespace residuum {
std::uint64_t read_limit(const Section& section,
                         const std::string& key,
                         std::int64_t least,
                         const nlohmann::json& fallback) {
  const auto value = section.any(key, fallback);
  if (value == "unlimited") {
    return kUnlimited;
  }
  require(!value.is_null(),
          "{} is missing: give a whole number of at least {}, or \"unlimited\"",
          section.where(key),
          least);
  require(value.is_number_integer() && value.get<std::int64_t>() >= least,
          "{} must be a whole number of at least {}, or \"unlimited\"; got {}",
          section.where(key),
          least,
          shown(value));
  return value.get<std::uint64_t>();
}

LateProtocol::LateProtocol(const Section& section)
    : name_(section.text("kind", "late")),
      place_(section.where("kind")),
      machine_(read_is_real(section) ? read_real_machine(section) : read_machine(section)) {}

ProtocolLaw LateProtocol::law(int workers) const {
  ProtocolLaw law = late_law(workers);
  law.is_real = machine_.is_real;
  law.is_on_wall_clock = machine_.is_real;
  law.times_gradients = has_virtual_time(machine_);
  return law;
}

int LateProtocol::most_processes(int workers) const {
  return machine_.is_real ? workers / workers_of_part(workers) + 1 : workers;
}

Cluster LateProtocol::cluster(World& world, int workers) const {
  return machine_.is_real ? Cluster::with_server(world, workers, workers_of_part(workers))
                          : Cluster(world, workers);
}

/// Returns how many workers must share a process: those of a node.
int LateProtocol::workers_of_part(int workers) const {
  const Roster roster = cast(workers, 1).roster;
  return roster.nodes > 0 ? static_cast<int>(roster.workers_of_node()) : 1;
}

void LateProtocol::check(const Method& method, std::size_t dimension, int workers) const {
  try {
    static_cast<void>(cast(workers, 1));
  } catch (const Error& error) {
    usage_error("{}: {}", place_, error.what());
  }
  check_speeds(machine_, workers);
  require(method.aggregator->law().applies_whole_messages,
          "{}: under {} each message is applied whole when it arrives, but the aggregator drops "
          "entries of sums; set aggregator.kind to \"allgather\" or \"dense\"",
          place_,
          name_);
  require(!method.aggregator->law().shifts_model,
          "{}: under {} workers read the model at different times, and changes of it add up to no "
          "shift that all of them know; set aggregator.down = \"whole\"",
          place_,
          name_);
  require(!method.feedback->has_velocity(),
          "{}: under {} workers push at different times, so velocities cannot be cleared together; "
          "use feedback \"ef14\", with step.momentum",
          place_,
          name_);
  require(!method.feedback->estimates(),
          "{}: under {} a version has messages of some workers only, and gradient estimates need "
          "those of all; use feedback \"ef14\"",
          place_,
          name_);
  require(!method.sparsifier->pilot(dimension),
          "{}: a threshold is found by a pilot training in lockstep, which says little of {}; give "
          "sparsifier.threshold",
          place_,
          name_);
  const SparsifierLaw law = method.sparsifier->law(dimension, 1);
  require(law.deterministic || !law.shares_support,
          "{}: under {} workers are at different iterations and cannot share a mask; set "
          "sparsifier.mask = \"per-worker\"",
          place_,
          name_);
}

std::optional<double> LateProtocol::gradients_within(double seconds,
                                                     const Training& training,
                                                     int workers) const {
  return gradients_of_actors(seconds, training, machine_, cast(workers, training.iterations));
}

template <class Real>
std::unique_ptr<Loop> LateProtocol::start(TrainingState<Real>& state) const {
  const Training& training = state.training();
  if (machine_.is_real) {
    const int workers = state.cluster().workers();
    return std::make_unique<RealLoop<Real>>(
        state,
        [this, workers](std::uint64_t versions) { return cast(workers, versions); },
        weights(),
        takes_time(machine_) ? std::optional<Pace>(std::in_place, training, machine_)
                             : std::nullopt);
  }
  const LinkModel links = training.networks.empty() ? LinkModel{} : training.networks.front().links;
  MachineOptions options = machine_options(training, machine_);
  options.delay = linear_delay(links.alpha_s, 0);
  options.link_s_per_byte = links.beta_s_per_byte;
  return std::make_unique<LateLoop<Real>>(
      state, cast(state.cluster().workers(), training.iterations), std::move(options), weights());
}

template std::unique_ptr<Loop> LateProtocol::start(TrainingState<float>&) const;
template std::unique_ptr<Loop> LateProtocol::start(TrainingState<double>&) const;

}  // namespace residuum
