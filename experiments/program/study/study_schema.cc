#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
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
#include "objectives/registry.h"
#include "reports/analysis/short_labels.h"

namespace residuum {
namespace {

using nlohmann::json;

constexpr auto kValues = std::to_array<KeyValues>({
    {"objective.kind", "name"},
    {"objective.precision", "\"float32\" | \"float64\""},
    {"objective.coordinates", "\"standard\" | \"dct\""},
    {"objective.data", "text"},
    {"objective.model", "text"},
    {"objective.loss", "\"cross-entropy\" | \"mean-squared-error\" | \"output\""},
    {"objective.labels", "text"},
    {"objective.test_data", "text"},
    {"objective.test_labels", "text"},
    {"objective.rows", "integer>=1"},
    {"objective.features", "integer>=1"},
    {"objective.zero_based", "true/false"},
    {"objective.classes", "text"},
    {"objective.data_seed", "integer>=0"},
    {"objective.scale", "\"none\" | \"max-abs\""},
    {"objective.intercept", "true/false"},
    {"objective.l2", "number>=0 | text"},
    {"objective.start", "number | text | list of number"},
    {"objective.shifted", "true/false"},
    {"objective.regulariser", "number>=0"},
    {"objective.dimension", "integer>=1"},
    {"objective.smoothness", "number>0"},
    {"objective.curvature_ratio", "number>0"},
    {"objective.heterogeneity", "number>=0"},
    {"objective.noise_variance", "number>=0"},
    {"objective.matrix", "list of any"},
    {"objective.minimizers", "number | list of any"},
    {"objective.law", "\"normal\" | \"laplace\""},
    {"objective.steps", "integer>=1"},
    {"objective.signal_to_noise", "number>=0"},
    {"objective.hidden", "integer>=1 | list of integer>=1"},
    {"objective.sequence", "integer>=1"},
    {"objective.stride", "integer>=1"},
    {"objective.embedding", "integer>=1"},
    {"objective.width", "integer>=1"},
    {"objective.heads", "integer>=1"},
    {"objective.layers", "integer>=1 | list of table"},
    {"objective.level", "\"word\" | \"character\""},
    {"objective.vocabulary", "integer>=1"},
    {"objective.characters", "integer>=1"},
    {"objective.train_samples", "integer>=0"},
    {"objective.evaluate_samples", "integer>=0"},
    {"objective.test_samples", "integer>=0"},
    {"objective.evaluate_precision", "\"float32\" | \"float64\""},
    {"objective.device", "text"},
    {"objective.augment", "true/false"},
    {"objective.depth", "integer>=1"},
    {"workers.count", "integer>=1"},
    {"workers.batch", "integer>=1 | \"full\""},
    {"workers.partition", "text"},
    {"workers.partition_seed", "integer>=0 | \"run\""},
    {"workers.sampling", "\"replacement\" | \"shuffle\""},
    {"workers.participation", "number>0 | \"all\""},
    {"workers.accumulate", "integer>=1"},
    {"workers.device", "text"},
    {"sparsifier.kind", "name"},
    {"sparsifier.density", "number>0<=1"},
    {"sparsifier.k", "integer>=1"},
    {"sparsifier.scope", "\"model\" | \"layer\""},
    {"sparsifier.threshold", "number>=0 | \"matched\" | \"pilot\""},
    {"sparsifier.rule", "\"fixed\" | \"eta-scaled\""},
    {"sparsifier.period", "integer>=1"},
    {"sparsifier.block", "integer>=1"},
    {"sparsifier.mask", "\"shared\" | \"per-worker\""},
    {"sparsifier.scaled", "true/false"},
    {"sparsifier.r_over_k", "number>0"},
    {"sparsifier.stages", "integer>=1"},
    {"sparsifier.command", "list of text"},
    {"sparsifier.per_worker", "true/false"},
    {"sparsifier.timeout_s", "number>0"},
    {"sparsifier.contraction", "number>=0"},
    {"sparsifier.pathwise", "true/false"},
    {"sparsifier.omega", "number>=0"},
    {"sparsifier.unbiased", "true/false"},
    {"sparsifier.deterministic", "true/false"},
    {"sparsifier.schedule", "\"none\" | \"dgc\" | \"gtopk\" | \"gtopk-code\" | list of number>0"},
    {"sparsifier.schedule_epochs", "number>0"},
    {"sparsifier.schedule_iterations", "integer>=1"},
    {"quantiser.kind", "name"},
    {"quantiser.bits", "integer>=1"},
    {"quantiser.bucket", "integer>=1"},
    {"quantiser.levels", "\"uniform\" | \"natural\""},
    {"quantiser.scale", "\"mean\" | \"one\""},
    {"quantiser.scope", "\"model\" | \"layer\""},
    {"quantiser.shrink", "true/false"},
    {"aggregator.kind", "name"},
    {"aggregator.algorithm",
     "\"chain\" | \"ring\" | \"tree\" | \"recursive-doubling\" | \"hierarchical\""},
    {"aggregator.per_node", "integer>=1"},
    {"aggregator.reduction", "\"ordered\" | \"fast\""},
    {"aggregator.down", "\"whole\" | \"top-k\" | \"ef21-p\""},
    {"aggregator.rank", "integer>=1"},
    {"aggregator.warm_start", "true/false"},
    {"aggregator.k", "integer>=1"},
    {"aggregator.density", "number>0<=1"},
    {"aggregator.quantiser", "\"qsgd\" | \"linear\""},
    {"aggregator.bits", "integer>=1"},
    {"aggregator.rotate", "true/false"},
    {"aggregator.period", "integer>=1"},
    {"aggregator.region_period", "integer>=1"},
    {"aggregator.weighting", "\"workers\" | \"senders\""},
    {"aggregator.clip", "\"none\" | \"median-norm\""},
    {"feedback.kind", "name"},
    {"feedback.putback", "\"captured\" | \"published\" | \"discard\""},
    {"feedback.units", "\"step\" | \"gradient\""},
    {"feedback.decay", "number>=0"},
    {"feedback.clears", "\"sent\" | \"selected\""},
    {"feedback.error_weight", "number>0"},
    {"feedback.averaging", "number>0"},
    {"feedback.momentum", "number>=0"},
    {"feedback.masking", "true/false"},
    {"protocol.kind", "name"},
    {"protocol.period", "integer>=1"},
    {"protocol.lag", "integer>=0"},
    {"protocol.execution", "\"simulated\" | \"real\""},
    {"protocol.staleness", "integer>=0 | \"unlimited\""},
    {"protocol.nodes", "integer>=1"},
    {"protocol.quota", "integer>=1"},
    {"protocol.cap", "integer>=1 | \"unlimited\""},
    {"protocol.weights", "\"plain\" | \"per-worker\""},
    {"protocol.graph", "text"},
    {"protocol.graph_seed", "integer>=0"},
    {"protocol.mixing", "\"plain\" | \"choco\""},
    {"protocol.consensus_step", "number>0"},
    {"protocol.compute", "number>=0 | text"},
    {"protocol.speeds", "list of number>0"},
    {"protocol.straggler_factor", "number>=1"},
    {"protocol.straggler_every_s", "number>0"},
    {"protocol.straggler_lasts_s", "number>0"},
    {"local.optimiser", "name"},
    {"local.momentum", "number>=0"},
    {"local.nesterov", "true/false"},
    {"local.beta1", "number>=0"},
    {"local.beta2", "number>=0"},
    {"local.epsilon", "number>=0"},
    {"local.scale", "\"rms\" | \"spectral\""},
    {"local.weight_decay", "number>=0"},
    {"local.average_every", "list of integer>=0"},
    {"network.model", "text | table | list of text | list of table | list of any"},
    {"network.workers_per_node", "integer>=1"},
    {"network.within", "text | table"},
    {"network.local", "\"none\" | \"measured\""},
    {"network.overlap", "\"none\" | \"wfbp\" | \"merged\""},
    {"network.layer_times", "\"measured\" | list of number>0"},
    {"step.rule", "\"constant\" | \"inv-sqrt\" | \"inv-time\" | \"milestones\" | \"cosine\""},
    {"step.value", "number>0 | text"},
    {"step.shift", "number>=0 | text"},
    {"step.milestones", "list of number>=0"},
    {"step.factor", "number>0"},
    {"step.until", "number>0 | \"T\""},
    {"step.floor", "number>=0"},
    {"step.unit", "\"epochs\" | \"iterations\""},
    {"step.warmup", "number>=0"},
    {"step.warmup_from", "number>=0 | text"},
    {"step.momentum", "number>=0"},
    {"step.weight_decay", "number>=0"},
    {"step.clip_norm", "number>=0"},
    {"step.clip_at", "\"worker\" | \"update\""},
    {"outer.kind", "\"plain\" | \"heavy-ball\" | \"nesterov\" | \"sign\" | \"orthogonal\""},
    {"outer.step", "number>0"},
    {"outer.momentum", "number>=0"},
    {"budget.iterations", "integer>=1"},
    {"budget.epochs", "number>0"},
    {"budget.gradients", "integer>=1"},
    {"budget.virtual_s", "number>0"},
    {"budget.loss_bound", "number"},
    {"probes.names", "list of name"},
    {"probes.every", "integer>=1 | table"},
    {"probes.evaluate", "integer>=1 | table"},
    {"probes.test", "integer>=1 | table"},
    {"probes.virtual_every", "integer>=1 | table"},
    {"probes.noise_every", "integer>=1 | table"},
    {"probes.tail_every", "integer>=1 | table"},
    {"probes.power_every", "integer>=1 | table"},
    {"probes.power_samples", "integer>=1"},
    {"probes.full_gradient", "true/false"},
    {"probes.times", "true/false"},
    {"probes.workers", "true/false"},
    {"probes.layers", "\"all\" | list of text"},
    {"probes.staleness", "true/false"},
    {"probes.magnitudes_every", "integer>=1 | table"},
    {"search.key", "text"},
    {"search.ratios", "list of number>=1 | table"},
    {"search.values", "list of any"},
    {"search.quantity", "\"loss\" | \"loss-gap\" | \"accuracy\""},
    {"search.margin", "number>=0"},
    {"search.relative_margin", "number>=0"},
    {"search.alpha", "number>0"},
    {"search.first", "integer>=1"},
    {"search.order", "\"bisection\" | \"ascending\""},
    {"search.dense", "table"},
    {"tune.SECTION.KEY", "list of any | text"},
    {"tune.seeds", "integer>=1 | list of integer>=0"},
    {"tune.quantity",
     "\"loss\" | \"loss-gap\" | \"accuracy\" | \"iterations\" | \"bytes\" | \"time\""},
    {"tune.target", "number"},
    {"tune.target_of", "\"loss\" | \"loss-gap\" | \"accuracy\""},
    {"tune.extend", "true/false"},
    {"tune.extend_by", "integer>=1"},
    {"tune.halving", "integer>=0"},
    {"expected.quantity", "text"},
    {"expected.at", "\"end\" | \"max\" | \"mean\" | integer>=0"},
    {"expected.value", "number"},
    {"expected.interval", "list of number"},
    {"expected.source", "text"},
    {"expected.where", "table"},
});

/// Returns what stands before and behind a sign; all of it and nothing where there is none.
std::pair<std::string_view, std::string_view> parted(std::string_view text, std::string_view sign) {
  const auto at = text.find(sign);
  return at == std::string_view::npos
             ? std::pair(text, std::string_view())
             : std::pair(text.substr(0, at), text.substr(at + sign.size()));
}

/// Returns the schema of one alternative that is no word.
json schema_of_type(std::string_view type, const json& names) {
  constexpr std::string_view kList = "list of ";
  if (type.starts_with(kList)) {
    return {{"type", "array"}, {"items", schema_of_type(type.substr(kList.size()), names)}};
  }
  if (type == "any") {
    return json::object();
  }
  if (type == "name") {
    return {{"enum", names}};
  }
  if (type == "true/false") {
    return {{"type", "boolean"}};
  }
  if (type == "text" || type == "table") {
    return {{"type", type == "text" ? "string" : "object"}};
  }
  const auto [most_of, most] = parted(type, "<=");
  const auto [least_of, least] = parted(most_of, ">=");
  const auto [name, above] = parted(least_of, ">");
  assert(name == "integer" || name == "number");
  json schema{{"type", std::string(name)}};
  if (!least.empty()) {
    schema["minimum"] = std::atoi(std::string(least).c_str());
  }
  if (!most.empty()) {
    schema["maximum"] = std::atoi(std::string(most).c_str());
  }
  if (!above.empty()) {
    schema["exclusiveMinimum"] = std::atoi(std::string(above).c_str());
  }
  return schema;
}

}  // namespace

std::span<const KeyValues> study_values() { return kValues; }

std::string_view values_of_key(std::string_view section, std::string_view name) {
  const std::string key = fmt::format("{}.{}", section, name);
  const auto* const found = std::find_if(
      kValues.begin(), kValues.end(), [&](const KeyValues& one) { return one.key == key; });
  return found == kValues.end() ? std::string_view("any") : found->values;
}

json schema_of_values(std::string_view values, const json& names) {
  auto alternatives = json::array();
  auto words = json::array();
  for (std::string_view rest = values; !rest.empty();) {
    const auto [one, behind] = parted(rest, " | ");
    if (one.front() == '"') {
      words.push_back(std::string(one.substr(1, one.size() - 2)));
    } else {
      alternatives.push_back(schema_of_type(one, names));
    }
    rest = behind;
  }
  if (!words.empty()) {
    alternatives.push_back({{"enum", std::move(words)}});
  }
  return alternatives.size() == 1 ? alternatives.front() : json{{"anyOf", std::move(alternatives)}};
}

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
