#include "core/protocols/simulated_machine.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>

#include "core/elementary.h"
#include "core/text.h"

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
    const auto number = parsed<double>(word);
    if (!number) {
      return {};
    }
    numbers.push_back(*number);
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
  if (name == "lognormal" && numbers.size() == 2 && numbers[0] > 0 && std::isnormal(numbers[0])) {
    return TimeLaw::log_normal(elementary::log(numbers[0]), numbers[1]);
  }
  if (name == "pareto" && numbers.size() == 2) {
    return TimeLaw::pareto(numbers[0], numbers[1]);
  }
  return std::nullopt;
}

TimeLaw law_of(const nlohmann::json& value, const Section& section) {
  const auto law = value.is_number()   ? std::optional(TimeLaw::constant(value.get<double>()))
                   : value.is_string() ? law_of_words(value.get<std::string>())
                                       : std::nullopt;
  if (!law) {
    usage_error(kComputeForms, section.where("compute"), shown(value));
  }
  law->check(section.where("compute").c_str());
  return *law;
}

std::vector<double> read_speeds(const Section& section) {
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
          shown(value));
  return value.get<std::vector<double>>();
}

/// Reads the stragglers; without times of gradients they slow nothing down.
Stragglers read_stragglers(const Section& section, bool has_times) {
  Stragglers stragglers{.factor = section.number("straggler_factor", 1)};
  require(std::isfinite(stragglers.factor) && stragglers.factor >= 1,
          "{} must be at least 1, got {}: it is how many times as long a gradient takes",
          section.where("straggler_factor"),
          stragglers.factor);
  const auto seconds = [&](const char* key) {
    const bool is_given = section.has(key);
    const bool is_used = has_times && (stragglers.factor != 1 || is_given);
    const double value = section.if_used(is_used).number(key).value_or(1);
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

/// Returns the first key that changes how long gradients take; null where none does.
const char* key_of_times(const Section& section) {
  if (section.has("speeds")) {
    return "speeds";
  }
  const Stragglers stragglers = read_stragglers(section, /*has_times=*/false);
  return stragglers.factor != 1 ? "straggler_factor" : nullptr;
}

/// Returns the machine of a study that does not say how long gradients take.
SimulatedMachine machine_without_times(const Section& section) {
  if (const char* const key = key_of_times(section)) {
    usage_error(
        "{} needs protocol.compute, the seconds of a gradient; give it, or leave the key out",
        section.where(key));
  }
  return {.compute = TimeLaw::constant(0)};
}

}  // namespace

SimulatedMachine read_machine(const Section& section) {
  return {.compute = law_of(section.any("compute", 1), section),
          .measures = false,
          .speeds = read_speeds(section),
          .speeds_place = section.where("speeds"),
          .stragglers = read_stragglers(section, /*has_times=*/true)};
}

SimulatedMachine read_lockstep_machine(const Section& section) {
  if (read_is_real(section)) {
    return read_real_machine(section);
  }
  if (!section.has("compute")) {
    return machine_without_times(section);
  }
  const auto value = section.any("compute");
  if (value == "measured") {
    if (const char* const key = key_of_times(section)) {
      usage_error(
          "{} changes seconds that are given, and protocol.compute is \"measured\"; give compute "
          "in seconds, or leave the key out",
          section.where(key));
    }
    return {.compute = TimeLaw::constant(0), .measures = true};
  }
  return read_machine(section);
}

bool read_is_real(const Section& section) {
  return section.choice("execution", {"simulated", "real"}, "simulated") == "real";
}

SimulatedMachine read_real_machine(const Section& section) {
  require(!section.has("compute") || section.given()["compute"] != "measured",
          "{} is \"measured\", but a real run is timed by the wall clock anyway; give the seconds "
          "that gradients are to last, or leave it out",
          section.where("compute"));
  SimulatedMachine machine =
      section.has("compute") ? read_machine(section) : machine_without_times(section);
  machine.is_real = true;
  return machine;
}

void check_speeds(const SimulatedMachine& machine, int workers) {
  require(machine.speeds.empty() || machine.speeds.size() == static_cast<std::size_t>(workers),
          "{}: there are {} speeds for {} workers; give one for each",
          machine.speeds_place,
          machine.speeds.size(),
          workers);
}

}  // namespace residuum
