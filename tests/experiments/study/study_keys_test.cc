// The list of keys is what the components of a study read, with the defaults that they take.

#include "experiments/study/study_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/protocols/protocol.h"
#include "core/quantisers/quantiser.h"
#include "core/sparsifiers/sparsifier.h"
#include "experiments/study/run_config.h"
#include "objectives/registry.h"

namespace residuum {
namespace {

using testing::HasSubstr;

/// As a value is written in a study.
std::string as_written(const nlohmann::json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  std::string text;
  if (value.is_array() && !value.empty()) {
    for (const auto& inner : value) {
      text += (text.empty() ? "" : ", ") + as_written(inner);
    }
    return text;
  }
  if (!value.is_object()) {
    return value.dump();
  }
  for (const auto& [key, inner] : value.items()) {
    text += (text.empty() ? "" : ", ") + key + " = " + inner.dump();
  }
  return "{ " + text + " }";
}

/// Keys that were read, as "section.key", and the defaults that were taken.
struct KeysRead {
  std::set<std::string> names;
  std::map<std::string, std::set<std::string>> defaults;

  void add(const Section& section) {
    for (const auto& key : section.known()) {
      names.insert(section.name() + '.' + key);
    }
    add_defaults(section.name(), section.resolved(), section.given());
  }

  void add_defaults(const std::string& section,
                    const nlohmann::json& resolved,
                    const nlohmann::json& given) {
    for (const auto& [key, value] : resolved.items()) {
      if (!given.contains(key)) {
        defaults[section + '.' + key].insert(as_written(value));
      }
    }
  }
};

template <class Entries, class Make>
void read_examples(const std::string& section,
                   const Entries& entries,
                   const Make& make,
                   KeysRead& read) {
  for (const auto& entry : entries) {
    auto values = nlohmann::json::parse(entry.example);
    values["kind"] = std::string(entry.name);
    const Section example(section, values);
    make(example);
    read.add(example);
  }
}

/// Reads sections that no example has all keys of.
void read_further_sections(KeysRead& read) {
  const auto add = [&](const char* name, const nlohmann::json& values, const auto& make) {
    const Section section(name, values);
    make(section);
    read.add(section);
  };
  const auto sparsifier = [](const Section& section) { make_sparsifier(section); };
  add("sparsifier", {{"kind", "top-k"}, {"density", 0.1}}, sparsifier);
  add("sparsifier",
      {{"kind", "hard-threshold"}, {"density", 0.1}, {"threshold", "pilot"}},
      sparsifier);
  add("sparsifier", {{"kind", "hard-threshold"}, {"k", 1}, {"threshold", "pilot"}}, sparsifier);
  add("aggregator",
      {{"kind", "dense"}, {"algorithm", "hierarchical"}, {"per_node", 2}},
      [](const Section& section) { make_aggregator(section); });
  add("aggregator", {{"kind", "dense"}, {"reduction", "fast"}}, [](const Section& section) {
    make_aggregator(section);
  });
  add("aggregator",
      {{"kind", "allgather"}, {"weighting", "senders"}, {"clip", "median-norm"}},
      [](const Section& section) { make_aggregator(section); });
  const auto protocol = [](const Section& section) { make_protocol(section); };
  add("protocol",
      {{"kind", "gossip"}, {"graph", "ring"}, {"mixing", "choco"}, {"consensus_step", 0.3}},
      protocol);
}

/// Studies of which each reads keys that the others do not.
const std::vector<std::string> kStudiesOfAllKeys{
    R"([sparsifier]
kind = "top-k"
k = 2
schedule = [0.25]
schedule_iterations = 1
[step]
value = 0.1
[outer]
kind = "nesterov"
[network]
model = "1gbe"
[budget]
iterations = 20
loss_bound = 1e9
[probes]
names = ["delta", "tail", "smoothness", "noise", "certificate"]
power_every = 10
magnitudes_every = 10
)",
    R"([sparsifier]
kind = "top-k"
k = 2
schedule = [0.25]
[step]
rule = "milestones"
value = 0.1
milestones = [1]
warmup = 1
clip_norm = 1.0
[budget]
epochs = 2
)",
    R"([local]
optimiser = "momentum"
[step]
rule = "cosine"
value = 0.1
until = 3
[budget]
iterations = 3
)",
    R"([local]
optimiser = "adamw"
[step]
value = 0.1
[budget]
iterations = 3
)",
    R"([step]
rule = "inv-time"
value = 0.1
[budget]
iterations = 3
[network]
model = "1gbe"
overlap = "wfbp"
[objective]
kind = "mlp"
rows = 300
)"};

KeysRead all_keys() {
  KeysRead read;
  read_examples(
      "sparsifier", sparsifiers(), [](const Section& s) { make_sparsifier(s); }, read);
  read_examples(
      "quantiser", quantisers(), [](const Section& s) { make_quantiser(s); }, read);
  read_examples(
      "aggregator", aggregators(), [](const Section& s) { make_aggregator(s); }, read);
  read_examples(
      "feedback", feedbacks(), [](const Section& s) { make_feedback(s); }, read);
  read_examples(
      "protocol", protocols(), [](const Section& s) { make_protocol(s); }, read);
  read_further_sections(read);
  const ObjectiveContext context{.data_dir = {}, .cache_dir = {}, .workers = 2};
  read_examples(
      "objective", objectives(), [&](const Section& s) { make_objective(s, context); }, read);
  ObjectiveCache cache(context);
  KnownKeys known;
  for (const auto& text : kStudiesOfAllKeys) {
    const std::string objective =
        text.find("[objective]") == std::string::npos ? "[objective]\nkind = \"logistic\"\n" : "";
    const Study study = parse_study("schema = 1\nname = \"s\"\n" + text + objective, "s.toml", {});
    const PreparedRun run = prepare(study.runs.front(), cache, known);
    for (const auto& [name, values] : run.config.items()) {
      const auto& sections = study.runs.front().sections;
      const auto found = sections.find(name);
      read.add_defaults(name,
                        values,
                        found == sections.end()
                            ? nlohmann::json::object()
                            : Section::with_places(name, found->second).given());
    }
  }
  for (const auto& [section, keys] : known.all()) {
    for (const auto& key : keys) {
      read.names.insert(section + '.' + key);
    }
  }
  return read;
}

TEST(StudyKeys, AreThoseThatTheComponentsRead) {
  RESIDUUM_NEEDS_NETWORKS();
  std::set<std::string> listed;
  for (const auto& key : study_keys()) {
    if (!key.section.empty() && key.section != "search" && key.section != "expected") {
      listed.insert(std::string(key.section) + '.' + std::string(key.name));
    }
  }
  EXPECT_THAT(listed, testing::ContainerEq(all_keys().names));
}

TEST(StudyKeys, HaveTheDefaultsThatTheComponentsTake) {
  RESIDUUM_NEEDS_NETWORKS();
  const KeysRead read = all_keys();
  for (const auto& key : study_keys()) {
    const auto found = read.defaults.find(std::string(key.section) + '.' + std::string(key.name));
    if (found == read.defaults.end()) {
      continue;
    }
    for (const auto& value : found->second) {
      EXPECT_THAT(std::string(key.fallback), HasSubstr(value)) << found->first;
    }
  }
}

TEST(StudyKeys, OfTheStudyItselfAreKnown) {
  for (const auto& key : study_keys()) {
    if (key.section.empty()) {
      const std::string text = "schema = 1\nname = \"s\"\n";
      try {
        parse_study(text + std::string(key.name) + "x = 1\n", "s.toml", {});
        FAIL() << key.name;
      } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("did you mean '" + std::string(key.name) + "'"));
      }
    }
  }
}

}  // namespace
}  // namespace residuum
