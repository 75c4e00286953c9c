#include "core/protocols/late_protocol.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "core/protocols/real_loop.h"

namespace residuum {
namespace {

constexpr const char* kComputeForms =
    "{} must be a number of seconds, \"exponential:MEAN\", \"lognormal:MEDIAN,SIGMA\" or "
    "\"pareto:LEAST,ALPHA\"; got {}";

/// Returns the numbers of "NAME:a,b" behind the colon; none if one of them is not a number.
std::vector<double> numbers_behind(std::string_view text) {
  std::vector<double> numbers;
  for (bool more = true; more;) {
    const auto comma = text.find(',');
    const auto word = text.substr(0, comma);
    double number = 0;
    const auto read = std::from_chars(word.data(), word.data() + word.size(), number);
    if (read.ec != std::errc() || read.ptr != word.data() + word.size()) {
      return {};
    }
    numbers.push_back(number);
    more = comma != std::string_view::npos;
    text.remove_prefix(more ? comma + 1 : text.size());
  }
  return numbers;
}

std::optional<TimeLaw> law_of_words(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  const auto name = text.substr(0, colon);
  const auto numbers = numbers_behind(text.substr(colon + 1));
  if (name == "exponential" && numbers.size() == 1) {
    return TimeLaw::exponential(numbers[0]);
  }
  if (name == "lognormal" && numbers.size() == 2 && numbers[0] > 0) {
    return TimeLaw::log_normal(std::log(numbers[0]), numbers[1]);
  }
  if (name == "pareto" && numbers.size() == 2) {
    return TimeLaw::pareto(numbers[0], numbers[1]);
  }
  return std::nullopt;
}

TimeLaw read_compute(const Section& section) {
  const auto value = section.any("compute", 1);
  const auto law = value.is_number()   ? std::optional(TimeLaw::constant(value.get<double>()))
                   : value.is_string() ? law_of_words(value.get<std::string>())
                                       : std::nullopt;
  if (!law) {
    usage_error(kComputeForms, section.where("compute"), value.dump());
  }
  law->check(section.where("compute").c_str());
  return *law;
}

std::vector<double> read_speeds(const Section& section) {
  section.knows("speeds");
  if (!section.has("speeds")) {
    return {};
  }
  const auto value = section.any("speeds");
  const auto is_speed = [](const nlohmann::json& one) {
    return one.is_number() && std::isfinite(one.get<double>()) && one.get<double>() > 0;
  };
  require(value.is_array() && std::all_of(value.begin(), value.end(), is_speed),
          "{} must be a list of positive numbers, one for each worker; got {}",
          section.where("speeds"),
          value.dump());
  return value.get<std::vector<double>>();
}

Stragglers read_stragglers(const Section& section) {
  Stragglers stragglers{.factor = section.switch_on("straggler_factor", 1)};
  require(std::isfinite(stragglers.factor) && stragglers.factor >= 1,
          "{} must be at least 1, got {}: it is how many times as long a gradient takes",
          section.where("straggler_factor"),
          stragglers.factor);
  const auto seconds = [&](const char* key) {
    section.knows(key);
    if (stragglers.factor == 1 && !section.has(key)) {
      return 1.0;  // not used
    }
    const double value = section.number(key);
    require(std::isfinite(value) && value > 0,
            "{} must be a positive number of seconds, got {}",
            section.where(key),
            value);
    return value;
  };
  stragglers.normal_seconds = seconds("straggler_every_s");
  stragglers.slow_seconds = seconds("straggler_lasts_s");
  return stragglers;
}

bool read_is_real(const Section& section) {
  return section.choice("execution", {"simulated", "real"}, "simulated") == "real";
}

/// A run on real processes has the times of its machine. It may be given a simulated one, which it
/// ignores, so that a study can sweep over both executions.
SimulatedMachine machine_of(const Section& section, bool is_real) {
  if (!is_real) {
    return read_machine(section);
  }
  for (const char* key :
       {"compute", "speeds", "straggler_factor", "straggler_every_s", "straggler_lasts_s"}) {
    section.knows(key);
  }
  return {};
}

}  // namespace

SimulatedMachine read_machine(const Section& section) {
  return {.compute = read_compute(section),
          .speeds = read_speeds(section),
          .speeds_place = section.where("speeds"),
          .stragglers = read_stragglers(section)};
}

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
          value.dump());
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
  require(machine_.speeds.empty() || machine_.speeds.size() == static_cast<std::size_t>(workers),
          "{}: there are {} speeds for {} workers; give one for each",
          machine_.speeds_place,
          machine_.speeds.size(),
          workers);
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
std::unique_ptr<Loop> LateProtocol::start_loop(Stage<Real>& stage) const {
  const Training& training = stage.training();
  if (is_real_) {
    const int workers = stage.cluster().workers();
    return std::make_unique<RealLoop<Real>>(
        stage,
        [this, workers](std::uint64_t versions) { return cast(workers, versions); },
        weights());
  }
  MachineOptions options{.seed = training.seed,
                         .compute = machine_.compute,
                         .speeds = machine_.speeds,
                         .stragglers = machine_.stragglers,
                         .delay = linear_delay(training.links.alpha_s, 0),
                         .link_s_per_byte = training.links.beta_s_per_byte};
  return std::make_unique<LateLoop<Real>>(
      stage, cast(stage.cluster().workers(), training.iterations), std::move(options), weights());
}

std::unique_ptr<Loop> LateProtocol::start(Stage<float>& stage) const { return start_loop(stage); }
std::unique_ptr<Loop> LateProtocol::start(Stage<double>& stage) const { return start_loop(stage); }

}  // namespace residuum
