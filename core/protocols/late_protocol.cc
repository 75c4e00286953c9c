#include "core/protocols/late_protocol.h"

#include "core/protocols/real_loop.h"

namespace residuum {
namespace {

bool read_is_real(const Section& section) {
  return section.choice("execution", {"simulated", "real"}, "simulated") == "real";
}

/// A run on real processes has the times of its machine. It may be given a simulated one, which it
/// ignores, so that a study can sweep over both executions.
SimulatedMachine machine_of(const Section& section, bool is_real) {
  if (!is_real) {
    return read_machine(section);
  }
  know_machine(section);
  return {};
}

}  // namespace

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
      is_real_(read_is_real(section)),
      machine_(machine_of(section, is_real_)) {}

ProtocolLaw LateProtocol::law(int workers) const {
  ProtocolLaw law = late_law(workers);
  law.is_real = is_real_;
  return law;
}

int LateProtocol::most_processes(int workers) const {
  return is_real_ ? workers / workers_of_part(workers) + 1 : workers;
}

Cluster LateProtocol::cluster(World& world, int workers) const {
  return is_real_ ? Cluster::with_server(world, workers, workers_of_part(workers))
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
          "{}: under {} each message is applied whole when it arrives, and this aggregator cuts "
          "sums of messages; use \"allgather\" or \"dense\"",
          place_,
          name_);
  require(!method.feedback->has_velocity(),
          "{}: under {} workers push at different times, and a momentum before the exchange clears "
          "velocities that other workers never saw; use feedback \"ef14\", with step.momentum",
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

template <class Real>
std::unique_ptr<Loop> LateProtocol::start(TrainingState<Real>& state) const {
  const Training& training = state.training();
  if (is_real_) {
    const int workers = state.cluster().workers();
    return std::make_unique<RealLoop<Real>>(
        state,
        [this, workers](std::uint64_t versions) { return cast(workers, versions); },
        weights());
  }
  const LinkModel links = training.networks.empty() ? LinkModel{} : training.networks.front().links;
  MachineOptions options{.seed = training.seed,
                         .compute = machine_.compute,
                         .speeds = machine_.speeds,
                         .stragglers = machine_.stragglers,
                         .delay = linear_delay(links.alpha_s, 0),
                         .link_s_per_byte = links.beta_s_per_byte};
  return std::make_unique<LateLoop<Real>>(
      state, cast(state.cluster().workers(), training.iterations), std::move(options), weights());
}

template std::unique_ptr<Loop> LateProtocol::start(TrainingState<float>&) const;
template std::unique_ptr<Loop> LateProtocol::start(TrainingState<double>&) const;

}  // namespace residuum
