#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "assumptions/probes/probe.h"
#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/optimisers/optimiser.h"
#include "core/protocols/protocol.h"
#include "core/quantisers/quantiser.h"
#include "core/sparsifiers/sparsifier.h"
#include "experiments/program/study/study.h"
#include "experiments/program/study/study_keys.h"
#include "experiments/program/study/study_values.h"
#include "objectives/registry.h"
#include "reports/analysis/short_labels.h"

namespace residuum {
namespace {

using nlohmann::json;

template <class Entries>
json names_in(const Entries& entries) {
  auto names = json::array();
  for (const auto& entry : entries) {
    names.push_back(std::string(entry.name));
  }
  return names;
}

/// Returns the names of the registry that a key takes its values from; null where there is none.
json known_values(const StudyKey& key) {
  const std::string name = fmt::format("{}.{}", key.section, key.name);
  if (name == "objective.kind") {
    return names_in(objectives());
  }
  if (name == "sparsifier.kind") {
    return names_in(sparsifiers());
  }
  if (name == "quantiser.kind") {
    return names_in(quantisers());
  }
  if (name == "aggregator.kind") {
    return names_in(aggregators());
  }
  if (name == "feedback.kind") {
    return names_in(feedbacks());
  }
  if (name == "protocol.kind") {
    return names_in(protocols());
  }
  if (name == "probes.names") {
    return names_in(probes());
  }
  return name == "local.optimiser" ? names_in(optimisers()) : json();
}

json schema_of(const StudyKey& key) {
  json names = known_values(key);
  const std::string fallback(key.fallback);
  const bool is_one = !names.is_null() && !fallback.empty() && key.name != "names";
  if (is_one && std::find(names.begin(), names.end(), fallback) == names.end()) {
    names.push_back(fallback);  // "none" is no quantiser
  }
  json schema = schema_of_values(values_of_key(key.section, key.name), names);
  schema["description"] = key.fallback.empty()
                              ? std::string(key.meaning)
                              : fmt::format("{}. Default: {}", key.meaning, key.fallback);
  return schema;
}

/// Returns the schema of an object with these keys and no others.
json closed_object(json properties) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
}

/// Returns the schemas of the keys of a section.
json keys_of(std::string_view section) {
  auto keys = json::object();
  for (const auto& key : study_keys()) {
    if (key.section == section) {
      keys[std::string(key.name)] = schema_of(key);
    }
  }
  return keys;
}

/// Returns the schemas of settings as [sweep], [[point]] and [labels] write them: "workers.count",
/// or workers = { count }; `change` makes the schema of a setting that of what stands there.
template <class Change>
json settings_as(const Change& change) {
  auto all = json::object();
  for (const auto& section : section_names()) {
    const json keys = keys_of(section);
    auto inner = json::object();
    for (const auto& [key, schema] : keys.items()) {
      inner[key] = change(schema);
      all[fmt::format("{}.{}", section, key)] = inner[key];
    }
    all[section] = closed_object(std::move(inner));
  }
  return all;
}

json list_of(const json& items) { return {{"type", "array"}, {"items", items}, {"minItems", 1}}; }

json name_of_method() {
  return {{"type", "string"}, {"minLength", 1}, {"maxLength", reports::kMostLabelCharacters}};
}

json names_of_values() { return {{"type", "object"}, {"additionalProperties", name_of_method()}}; }

}  // namespace

json study_schema() {
  auto root = keys_of("");
  for (const auto& section : section_names()) {
    root[section] = closed_object(keys_of(section));
  }
  const auto described = [&](const char* key, json schema) {
    schema["description"] = root[key]["description"];
    root[key] = std::move(schema);
  };
  const json seed{{"type", "integer"}, {"minimum", 0}};
  const json count{{"type", "integer"}, {"minimum", 1}};
  auto point = settings_as([](const json& setting) { return setting; });
  point["label"] = name_of_method();
  described("schema", {{"const", 1}});
  described("name", {{"type", "string"}, {"pattern", "^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$"}});
  described("title", {{"type", "string"}});
  described("seeds", {{"anyOf", {count, list_of(seed)}}});
  described("sweep", closed_object(settings_as(list_of)));
  described("point", list_of(closed_object(std::move(point))));
  described("labels",
            closed_object(settings_as([](const json& /*setting*/) { return names_of_values(); })));
  root["search"] = closed_object(keys_of("search"));
  json tune = settings_as([](const json& /*setting*/) {
    return json{{"anyOf", {{{"type", "array"}, {"minItems", 2}}, {{"type", "string"}}}}};
  });
  const json own = keys_of("tune");
  for (const auto& [key, schema] : own.items()) {
    if (key.find('.') == std::string::npos) {  // SECTION.KEY stands for all others
      tune[key] = schema;
    }
  }
  root["tune"] = closed_object(std::move(tune));
  root["expected"] = list_of(closed_object(keys_of("expected")));
  auto schema = closed_object(std::move(root));
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "A study of Residuum";
  schema["required"] = {"schema", "name"};
  return schema;
}

}  // namespace residuum
