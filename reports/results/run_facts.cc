#include "reports/results/run_facts.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "reports/results/result_folder.h"

namespace residuum::reports {
namespace {

/// Returns a number as JSON, whole numbers without a point.
Json json_of(double value) {
  constexpr double kMostExact = 9007199254740992.0;  // 2^53
  const bool is_whole = std::abs(value) < kMostExact && value == std::trunc(value);
  return is_whole ? Json(static_cast<std::int64_t>(value)) : json_number(value);
}
Json json_of(const Known& known) { return json_of(known.value); }
template <std::integral Value>
Json json_of(Value value) {
  return value;
}
Json json_of(const std::string& value) { return value.empty() ? Json() : Json(value); }
Json json_of(Memory memory) { return name_of(memory); }
Json json_of(Synchrony synchrony) { return name_of(synchrony); }
template <class Value>
Json json_of(const std::optional<Value>& value) {
  return value ? json_of(*value) : Json();
}

/// Returns the place of a dotted path, which it makes.
Json& place_at(Json& object, std::string_view path) {
  const auto dot = path.find('.');
  Json& place = object[std::string(path.substr(0, dot))];
  return dot == std::string_view::npos ? place : place_at(place, path.substr(dot + 1));
}

/// Returns a whole number that the type has.
template <class Count>
std::optional<Count> whole_of(const Json& found) {
  const auto as = [&]<class Whole>(Whole whole) {
    return std::in_range<Count>(whole) ? std::optional(static_cast<Count>(whole)) : std::nullopt;
  };
  if (found.is_number_unsigned()) {
    return as(found.template get<std::uint64_t>());
  }
  return found.is_number_integer() ? as(found.template get<std::int64_t>()) : std::nullopt;
}

// One function for each type of a field: it reads the field's value, if status.json has one.

void read(const Json& status, const FactField& field, bool& value) {
  value = flag_at(status, field.path, field.both == Both::reservation);
}
void read(const Json& status, const FactField& field, std::optional<bool>& value) {
  const Json& found = value_at(status, field.path);
  value = found.is_boolean() ? std::optional(found.get<bool>()) : std::nullopt;
}
void read(const Json& status, const FactField& field, double& value) {
  value = number_at(status, field.path).value_or(value);
}
void read(const Json& status, const FactField& field, std::optional<double>& value) {
  value = number_at(status, field.path);
}
void read(const Json& status, const FactField& field, std::optional<Known>& value) {
  const auto number = number_at(status, field.path);
  if (number && std::isfinite(*number)) {
    value = Known{.value = *number, .origin = field.origin};
  }
}
template <class Count>
requires(std::integral<Count> && !std::same_as<Count, bool>) void read(const Json& status,
                                                                       const FactField& field,
                                                                       Count& value) {
  value = whole_of<Count>(value_at(status, field.path)).value_or(value);
}
template <class Count>
requires(std::integral<Count> && !std::same_as<Count, bool>) void read(
    const Json& status, const FactField& field, std::optional<Count>& value) {
  value = whole_of<Count>(value_at(status, field.path));
}
void read(const Json& status, const FactField& field, std::string& value) {
  const std::string text = text_at(status, field.path);
  value = text.empty() ? value : text;
}
void read(const Json& status, const FactField& field, Memory& value) {
  value = memory_of(text_at(status, field.path)).value_or(value);
}
void read(const Json& status, const FactField& field, Synchrony& value) {
  value = synchrony_of(text_at(status, field.path)).value_or(value);
}

// One function for each type of a field: it returns whether the value is one that a run writes. A
// constant, a text and an unknown claim may be absent.

bool is_written(const Json& found, const bool& /*type*/) { return found.is_boolean(); }
bool is_written(const Json& found, const double& /*type*/) {
  return number_at(found, {}).has_value();
}
template <std::integral Count>
bool is_written(const Json& found, const Count& /*type*/) {
  return whole_of<Count>(found).has_value();
}
bool is_written(const Json& found, const Known& /*type*/) {
  return number_at(found, {}).has_value();
}
bool is_written(const Json& found, const std::string& /*type*/) {
  return found.is_null() || found.is_string();
}
bool is_written(const Json& found, const Memory& /*type*/) {
  return found.is_string() && memory_of(found.get<std::string>()).has_value();
}
bool is_written(const Json& found, const Synchrony& /*type*/) {
  return found.is_string() && synchrony_of(found.get<std::string>()).has_value();
}
template <class Value>
bool is_written(const Json& found, const std::optional<Value>& /*type*/) {
  return found.is_null() || is_written(found, Value());
}

void read_names(const Json& config, RunFacts& facts) {
  const auto read_word = [&](std::string_view path, std::string& word) {
    const std::string found = text_at(config, path);
    word = found.empty() ? word : found;
  };
  read_word("sparsifier.kind", facts.names.sparsifier);
  if (const std::string quantiser = text_at(config, "quantiser.kind"); !quantiser.empty()) {
    facts.names.sparsifier += " with values by " + quantiser;
  }
  facts.names.sparsifier += facts.sparsifier.claimed ? ", as claimed by the study" : "";
  read_word("aggregator.kind", facts.names.aggregator);
  read_word("feedback.kind", facts.names.feedback);
  read_word("protocol.kind", facts.names.protocol);
  read_word("step.rule", facts.names.step_rule);
  facts.names.step_rule += number_at(config, "step.warmup").value_or(0) > 0 ? " with warm-up" : "";
  read_word("workers.sampling", facts.names.sampling);
}

}  // namespace

void write_run_facts(const RunFacts& facts, Json& status) {
  visit_fact_fields([&](const FactField& field, auto place) {
    const auto* fact = place(facts);
    if (Json value = fact != nullptr ? json_of(*fact) : Json(); !value.is_null()) {
      place_at(status, field.path) = std::move(value);
    }
  });
}

std::string damaged_fact(const Json& status) {
  RunFacts facts;
  const Json& quantiser = value_at(status, "laws.quantiser");
  if (!quantiser.is_null()) {
    facts.quantiser.emplace();
  }
  std::string damaged;
  visit_fact_fields([&](const FactField& field, auto place) {
    const auto* fact = place(facts);
    if (damaged.empty() && fact != nullptr && !is_written(value_at(status, field.path), *fact)) {
      damaged = field.path;
    }
  });
  return damaged;
}

RunFacts read_run_facts(const Json& config, const Json& status) {
  RunFacts facts;
  if (value_at(status, "laws.quantiser").is_object()) {
    facts.quantiser.emplace();
  }
  visit_fact_fields([&](const FactField& field, auto place) {
    if (auto* fact = place(facts)) {
      read(status, field, *fact);
    }
  });
  read_names(config, facts);
  facts.workers = std::max(1.0, number_at(config, "workers.count").value_or(1));
  facts.dimension = std::max(1.0, facts.dimension);
  if (facts.k && !(*facts.k >= 1 && *facts.k <= facts.dimension)) {
    facts.k.reset();
  }
  if (facts.gradients.full) {
    facts.objective.noise_variance = Known{.value = 0, .origin = "exact: full gradients"};
  }
  return facts;
}

}  // namespace residuum::reports
