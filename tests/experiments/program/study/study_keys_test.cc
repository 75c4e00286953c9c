// The list of keys has exactly the keys that the components of a study read, with their defaults.

#include "experiments/program/study/study_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/optimisers/optimiser.h"
#include "core/protocols/protocol.h"
#include "core/quantisers/quantiser.h"
#include "core/sparsifiers/sparsifier.h"
#include "experiments/program/study/run_config.h"
#include "objectives/registry.h"
#include "reports/analysis/tuning_folder.h"
#include "tests/experiments/support.h"

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

/// Returns the example with the file of a module in place of one that is not there.
nlohmann::json example_of(std::string_view example) {
  auto values = nlohmann::json::parse(example);
  if (values.contains("model") && values["model"] == "model.pt") {
    values["model"] = RESIDUUM_STUDIES "/../tests/objectives/torch/pooled.pt";
  }
  return values;
}

template <class Entries, class Make>
void read_examples(const std::string& section,
                   const Entries& entries,
                   const Make& make,
                   KeysRead& read) {
  for (const auto& entry : entries) {
    if (entry.example.empty()) {
      continue;  // it cannot be made of a section alone
    }
    auto values = example_of(entry.example);
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
  add("quantiser", {{"kind", "qsgd"}, {"levels", "natural"}}, [](const Section& section) {
    make_quantiser(section);
  });
  for (const char* optimiser : {"lion", "muon"}) {
    add("local", {{"optimiser", optimiser}}, [](const Section& section) {
      make_optimiser(section);
    });
  }
  const auto protocol = [](const Section& section) { make_protocol(section); };
  add("protocol",
      {{"kind", "gossip"}, {"graph", "ring"}, {"mixing", "choco"}, {"consensus_step", 0.3}},
      protocol);
}

/// Studies that together read all keys; each reads some that the others do not.
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
  const ObjectiveContext context{
      .data_dir = {}, .cache_dir = {}, .workers = 2, .allow_commands = true};
  read_examples(
      "objective", objectives(), [&](const Section& s) { make_objective(s, context); }, read);
  const TemporaryFolder folder;
  const auto file = folder.write("d.svm", "1 1:1\n-1 1:2\n").string();
  const Section of_file("objective", {{"kind", "logistic"}, {"data", file}});
  make_objective(of_file, context);
  for (const auto& key : of_file.known()) {
    read.names.insert("objective." + key);
  }
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

/// True for a key of a run's settings; others say which runs a study has, and what papers have.
bool is_of_a_run(const StudyKey& key) {
  return !key.section.empty() && key.section != "search" && key.section != "tune" &&
         key.section != "expected";
}

TEST(StudyKeys, AreThoseThatTheComponentsRead) {
  RESIDUUM_NEEDS_NETWORKS();
  std::set<std::string> listed;
  for (const auto& key : study_keys()) {
    if (is_of_a_run(key)) {
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

// --- Defaults that are written out -------------------------------------------------------------

/// A default value in the list of keys. "fixed; from a density: eta-scaled" has two values, and the
/// second has a condition.
struct WrittenDefault {
  std::string value;
  bool has_condition = false;
};

std::vector<WrittenDefault> written_defaults(std::string_view fallback) {
  std::vector<WrittenDefault> all;
  std::string rest(fallback);
  while (!rest.empty()) {
    const auto end = rest.find("; ");
    const std::string part = rest.substr(0, end);
    rest = end == std::string::npos ? std::string() : rest.substr(end + 2);
    const auto colon = part.find(": ");
    const std::string value = colon == std::string::npos ? part : part.substr(colon + 2);
    const bool has_condition = colon != std::string::npos;
    const auto comma = has_condition ? value.find(", ") : std::string::npos;  // else it is a list
    all.push_back({.value = value.substr(0, comma), .has_condition = has_condition});
    if (comma != std::string::npos) {
      all.push_back({.value = value.substr(comma + 2), .has_condition = true});
    }
  }
  return all;
}

/// The default as TOML: numbers, tables and lists as they are, words in quotes.
std::string as_toml(const StudyKey& key, const std::string& value) {
  static const std::regex plain(R"(-?[0-9.]+(e-?[0-9]+)?|true|false|\{.*\}|\[.*\])");
  if (std::regex_match(value, plain)) {
    return value;
  }
  if (key.section == "probes" && key.name == "names") {
    return "[\"" + std::regex_replace(value, std::regex(", "), "\", \"") + "\"]";
  }
  return '"' + value + '"';
}

/// Returns studies that together have every component and rule.
std::vector<std::string> studies_of_all_components() {
  const std::string quadratic = "[objective]\nkind = \"quadratic\"\n";
  const std::string short_run = "[step]\nvalue = 0.1\n[budget]\niterations = 20\n";
  std::vector<std::string> studies;
  const auto add = [&](const std::string& name, const auto& entries, const std::string& others) {
    for (const auto& entry : entries) {
      if (entry.example.empty()) {
        continue;
      }
      std::string text = "[" + name + "]\nkind = \"" + std::string(entry.name) + "\"\n";
      const auto example = example_of(entry.example);
      for (const auto& [key, value] : example.items()) {
        text += key + " = " + value.dump() + "\n";
      }
      studies.push_back(text + others + short_run);
    }
  };
  add("sparsifier", sparsifiers(), quadratic + "[aggregator]\nkind = \"allgather\"\n");
  add("quantiser", quantisers(), quadratic + "[aggregator]\nkind = \"allgather\"\n");
  add("aggregator", aggregators(), quadratic + "[sparsifier]\nkind = \"top-k\"\nk = 2\n");
  add("aggregator", aggregators(), quadratic);
  add("feedback", feedbacks(), quadratic + "[sparsifier]\nkind = \"top-k\"\nk = 2\n");
  add("protocol", protocols(), quadratic);
  add("protocol", protocols(), quadratic + "[feedback]\nkind = \"none\"\n");
  add("objective", objectives(), "");
  for (const auto& text : kStudiesOfAllKeys) {
    const bool has_objective = text.find("[objective]") != std::string::npos;
    studies.push_back(text + (has_objective ? "" : "[objective]\nkind = \"logistic\"\n"));
  }
  for (const char* more : {
           "[network]\nmodel = \"1gbe\"\n",
           "[network]\nlocal = \"measured\"\n[protocol]\ncompute = 1\n",
           "[outer]\nstep = 2.0\n",
           "[protocol]\nkind = \"local\"\nperiod = 2\n[local]\noptimiser = \"momentum\"\n",
           "[sparsifier]\nkind = \"hard-threshold\"\ndensity = 0.1\nthreshold = \"pilot\"\n"
           "[aggregator]\nkind = \"allgather\"\n",
           "[aggregator]\nkind = \"dense\"\nalgorithm = \"ring\"\n",
       }) {
    studies.push_back(more + quadratic + short_run);
  }
  // Examples give these keys, so that their defaults are taken here.
  for (const char* kind : {"signal", "lstm", "gpt", "resnet"}) {
    studies.push_back("[objective]\nkind = \"" + std::string(kind) + "\"\n" + short_run);
  }
  studies.push_back("[objective]\nkind = \"recorded\"\ndata = \"synthetic-gradients\"\n" +
                    short_run);
  studies.push_back("[aggregator]\nkind = \"powersgd\"\n[objective]\nkind = \"mlp\"\nrows = 300\n" +
                    short_run);
  const std::string matrix = "[objective]\nkind = \"softmax\"\nrows = 300\nfeatures = 12\n";
  studies.push_back("[aggregator]\nkind = \"arc-top-k\"\nrank = 1\n" + matrix + short_run);
  studies.push_back("[aggregator]\nkind = \"quantised-ring\"\n" + quadratic + short_run);
  studies.push_back("[local]\noptimiser = \"muon\"\n" + matrix + short_run);
  studies.push_back("[aggregator]\nkind = \"dense\"\n" + quadratic + short_run);
  studies.push_back("[quantiser]\nkind = \"qsgd\"\n[aggregator]\nkind = \"allgather\"\n" +
                    quadratic + short_run);
  studies.push_back("[protocol]\nkind = \"inhad\"\nnodes = 2\nquota = 2\n" + quadratic + short_run);
  studies.push_back("[probes]\nnames = [\"tail\"]\n" + quadratic +
                    "[step]\nvalue = 0.1\n[budget]\niterations = 200\n");
  studies.push_back(
      "[sparsifier]\nkind = \"top-k\"\ndensity = 0.1\n[aggregator]\nkind = "
      "\"allgather\"\n" +
      quadratic + short_run);
  studies.push_back(quadratic +
                    "[step]\nrule = \"cosine\"\nvalue = 0.1\n[budget]\niterations = 20\n");
  return studies;
}

struct Prepared {
  nlohmann::json config;
  std::map<std::string, std::set<std::string>> known;
  std::map<std::string, std::map<std::string, Setting>> given;
};

/// Returns nothing for a study that is refused.
std::optional<Prepared> prepared(const std::string& text,
                                 const std::vector<std::string>& overrides,
                                 ObjectiveCache& cache) {
  try {
    const Study study = parse_study("schema = 1\nname = \"s\"\n" + text, "s.toml", overrides);
    KnownKeys known;
    const PreparedRun run = prepare(study.runs.front(), cache, known);
    return Prepared{
        .config = run.config, .known = known.all(), .given = study.runs.front().sections};
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The values of a run without one of them, and without sections that have none.
nlohmann::json without(nlohmann::json config, const std::string& section, const std::string& name) {
  if (config.contains(section) && config[section].is_object()) {
    config[section].erase(name);
    if (config[section].empty()) {
      config.erase(section);
    }
  }
  return config;
}

// A default that is written out changes no value: each is taken by a study that reads the key, and
// where it has no condition no study becomes another run by it. Runs without [network] have no
// virtual clocks, so that there the section is more than its defaults.
TEST(StudyKeys, HaveDefaultsThatCanBeWrittenOut) {
  RESIDUUM_NEEDS_NETWORKS();
  ObjectiveCache cache({.data_dir = {}, .cache_dir = {}, .workers = 4, .allow_commands = true});
  std::map<std::string, std::string> open;  // the keys whose default no study has taken
  for (const auto& key : study_keys()) {
    if (is_of_a_run(key) && !key.fallback.empty()) {
      open[std::string(key.section) + '.' + std::string(key.name)] = key.fallback;
    }
  }
  for (const auto& text : studies_of_all_components()) {
    const auto plain = prepared(text, {}, cache);
    if (!plain) {
      continue;
    }
    const bool is_quick = text.find("\"quadratic\"") != std::string::npos;
    for (const auto& key : study_keys()) {
      const std::string section(key.section);
      const std::string name(key.name);
      const auto known = plain->known.find(section);
      const auto given = plain->given.find(section);
      // Some keys are known only where they are given, which takes long to try on networks.
      const bool may_be_known = known != plain->known.end() && known->second.contains(name);
      if (key.fallback.empty() || (!may_be_known && !is_quick) ||
          (given != plain->given.end() && given->second.contains(name)) ||
          (section == "network" && given == plain->given.end())) {
        continue;
      }
      bool is_same = false;
      bool is_refused = false;
      const auto defaults = written_defaults(key.fallback);
      for (const auto& [value, has_condition] : defaults) {
        const auto written =
            prepared(text, {section + '.' + name + '=' + as_toml(key, value)}, cache);
        is_same = is_same || (written && without(written->config, section, name) ==
                                             without(plain->config, section, name));
        is_refused = is_refused || !written;
      }
      if (is_same) {
        open.erase(section + '.' + name);
      }
      const bool has_one_value = defaults.size() == 1 && !defaults.front().has_condition;
      EXPECT_TRUE(is_same || is_refused || !has_one_value)
          << section << '.' << name << " = " << key.fallback << " makes another run of\n"
          << text;
    }
  }
  EXPECT_THAT(open, testing::IsEmpty()) << "these defaults are taken by no study";
}

TEST(StudyKeys, OfTheStudyAndItsSearchHaveDefaultsThatCanBeWrittenOut) {
  const std::string plain =
      "schema = 1\nname = \"s\"\nseeds = 8\n[objective]\nkind = \"quadratic\"\n[step]\nvalue = "
      "0.1\n[budget]\niterations = 3\n[sparsifier]\nkind = \"top-k\"\n[aggregator]\nkind = "
      "\"allgather\"\n[search]\nkey = \"sparsifier.density\"\nratios = [2, 4]\n";
  const Study before = parse_study(plain, "s.toml", {});
  for (const auto& key : study_keys()) {
    if (key.section == "search" && !key.fallback.empty() && key.name != "dense") {
      const std::string line =
          std::string(key.name) + " = " + as_toml(key, std::string(key.fallback)) + '\n';
      const Study written = parse_study(plain + line, "s.toml", {});
      ASSERT_TRUE(written.search) << key.name;
      EXPECT_EQ(written.search->quantity, before.search->quantity) << key.name;
      EXPECT_EQ(written.search->most_runs(), before.search->most_runs()) << key.name;
    }
  }
  const std::string untuned = plain.substr(0, plain.find("[search]"));
  const std::string tuned = untuned + "[tune]\n\"sparsifier.density\" = [0.1, 0.2]\n";
  const auto plan_before = reports::tuning_record(parse_study(tuned, "s.toml", {}).tune->plan);
  for (const auto& key : study_keys()) {
    if (key.section == "tune" && !key.fallback.empty() && key.name != "target_of") {
      const std::string line =
          std::string(key.name) + " = " + as_toml(key, std::string(key.fallback)) + '\n';
      const Study written = parse_study(tuned + line, "s.toml", {});
      EXPECT_EQ(reports::tuning_record(written.tune->plan), plan_before) << key.name;
    }
  }
  const std::string one = "schema = 1\nname = \"s\"\ntitle = \"s\"\nseeds = 1\n";
  EXPECT_EQ(parse_study(one + "[objective]\nkind = \"quadratic\"\n", "s.toml", {}).runs.size(), 1U);
}

}  // namespace
}  // namespace residuum
