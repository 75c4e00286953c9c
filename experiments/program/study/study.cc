#include "experiments/program/study/study.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

#include "experiments/program/study/search_section.h"
#include "experiments/program/study/study_points.h"
#include "experiments/program/study/study_toml.h"
#include "experiments/program/study/tune_section.h"
#include "objectives/network_module.h"
#include "reports/results/files.h"

namespace residuum {
namespace {

std::map<std::string, Settings> by_section(const Settings& settings) {
  std::map<std::string, Settings> sections;
  for (const auto& [dotted, setting] : settings) {
    check_known_section(dotted, setting.place);
    const auto dot = dotted.find('.');
    sections[dotted.substr(0, dot)][dotted.substr(dot + 1)] = setting;
  }
  return sections;
}

std::uint64_t seed_from(const toml::node& node) {
  const auto* integer = node.as_integer();
  require(integer != nullptr && integer->get() >= 0,
          "a seed must be a whole number of at least 0, at {}",
          place_of(node.source()));
  return static_cast<std::uint64_t>(integer->get());
}

std::vector<std::uint64_t> seeds_of(const toml::table& root) {
  const auto node = root["seeds"];
  if (!node) {
    return {1};
  }
  std::vector<std::uint64_t> seeds;
  if (const auto* list = node.as_array()) {
    for (const auto& seed : *list) {
      seeds.push_back(seed_from(seed));
    }
    require(!seeds.empty(), "'seeds' at {} is empty", place_of(node.node()->source()));
    return seeds;
  }
  const std::uint64_t count = seed_from(*node.node());
  require(count >= 1 && count <= kMaxRuns,
          "'seeds' at {} must lie in 1..{}, got {}",
          place_of(node.node()->source()),
          kMaxRuns,
          count);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    seeds.push_back(seed);
  }
  return seeds;
}

void check_top_level(const toml::table& root, const std::string& file) {
  std::vector<std::string> known = section_names();
  for (const char* key : {"schema",
                          "name",
                          "title",
                          "seeds",
                          "sweep",
                          "point",
                          "labels",
                          "search",
                          "tune",
                          "expected"}) {
    known.emplace_back(key);
  }
  for (const auto& [key, node] : root) {
    const std::string name(key.str());
    require(std::find(known.begin(), known.end(), name) != known.end(),
            "unknown key '{}' at {}{}",
            name,
            place_of(key.source()),
            suggestion(name, known));
    const auto& sections = section_names();
    const bool is_section = std::find(sections.begin(), sections.end(), name) != sections.end();
    require(!is_section || node.is_table(),
            "'{}' at {} must be a section: [{}]",
            name,
            place_of(key.source()),
            name);
  }
  const auto node = root["schema"];
  require(
      static_cast<bool>(node), "missing key 'schema' in {}; this program reads schema = 1", file);
  const auto schema = node.value_exact<std::int64_t>();
  require(
      schema.has_value(), "'schema' at {} must be the number 1", place_of(node.node()->source()));
  require(*schema == 1,
          "schema {} at {} is unknown; this program reads schema = 1",
          *schema,
          place_of(node.node()->source()));
}

bool is_folder_name(std::string_view name) {
  const auto safe = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= 100 && name.front() != '-' && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), safe);
}

std::string name_of(const toml::table& root, const std::string& file) {
  const auto node = root["name"];
  require(static_cast<bool>(node), "missing key 'name' in {}", file);
  const auto name = node.value<std::string>();
  require(name && is_folder_name(*name),
          "'name' at {} must be made of letters, digits, '.', '-' and '_'",
          place_of(node.node()->source()));
  return *name;
}

std::string title_of(const toml::table& root, const std::string& name) {
  const auto node = root["title"];
  if (!node) {
    return name;
  }
  const auto title = node.value_exact<std::string>();
  require(title.has_value(), "'title' at {} must be a text", place_of(node.node()->source()));
  return *title;
}

/// The study with the seeds that an override names, if one does.
toml::table with_seeds(toml::table root, const std::vector<std::string>& overrides) {
  for (const auto& override_text : overrides) {
    if (override_text.rfind("seeds=", 0) == 0) {
      const auto seeds = parse_toml("seeds = " + override_text.substr(6), "--set");
      root.insert_or_assign("seeds", *seeds.get("seeds"));
    }
  }
  return root;
}

/// Returns the settings of a trial and marks its run by the values and the budget that it tries.
Settings settings_of_trial(const StudyPoint& method,
                           const StudyTune& tune,
                           std::size_t trial,
                           RunSpec& spec) {
  const std::size_t level = tune.plan.level_of(trial);
  const double share = tune.plan.share(tune.plan.round_of(trial));
  Settings settings = settings_at(method.settings, tune, level);
  spec.varying.update(tuned_values(tune, level));
  if (share < 1) {
    spec.varying.update(take_share_of_budget(tune, share, settings));
  }
  if (!method.label.empty()) {
    spec.label += ", " + tune.plan.name(level);
    spec.label += share == 1 ? "" : fmt::format(", {:.3g} of the budget", share);
  }
  return settings;
}

/// Adds the runs of one method in the order of StudyTune. Tuning runs are told apart by the values
/// that are tried, the others are not: a method has one best value.
void add_tuned_runs(const StudyPoint& method,
                    const nlohmann::json& varying,
                    const std::vector<std::uint64_t>& seeds,
                    Study& study) {
  const StudyTune& tune = *study.tune;
  const auto run_at = [&](std::size_t level, std::uint64_t seed) {
    RunSpec spec;
    spec.seed = seed;
    spec.varying = varying;
    spec.label = method.label;
    spec.is_extension = is_extension(tune.plan, level);
    return spec;
  };
  for (std::size_t trial = 0; trial < tune.plan.trials(); ++trial) {
    for (const std::uint64_t seed : tune.plan.seeds) {
      RunSpec spec = run_at(tune.plan.level_of(trial), seed);
      spec.is_tuning = true;
      spec.sections = by_section(settings_of_trial(method, tune, trial, spec));
      study.runs.push_back(std::move(spec));
    }
  }
  for (std::size_t level = 0; level < tune.plan.levels(); ++level) {
    for (const std::uint64_t seed : seeds) {
      RunSpec spec = run_at(level, seed);
      spec.sections = by_section(settings_at(method.settings, tune, level));
      study.runs.push_back(std::move(spec));
    }
  }
}

/// Refuses a study of a network in a build without libtorch, before any run begins.
void require_built_objectives(const Study& study) {
  for (const RunSpec& spec : study.runs) {
    const auto objective = spec.sections.find("objective");
    if (objective == spec.sections.end()) {
      continue;
    }
    const auto kind = objective->second.find("kind");
    if (kind != objective->second.end() && kind->second.value.is_string()) {
      require_built_network(kind->second.value.get<std::string>());
    }
  }
}

}  // namespace

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names{"objective",
                                              "workers",
                                              "sparsifier",
                                              "quantiser",
                                              "aggregator",
                                              "feedback",
                                              "protocol",
                                              "local",
                                              "network",
                                              "step",
                                              "outer",
                                              "budget",
                                              "probes"};
  return names;
}

std::string read_study_file(const std::filesystem::path& file) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 24U;
  return reports::read_file(file, kMostBytes);
}

Study parse_study(const std::string& text,
                  const std::string& file,
                  const std::vector<std::string>& overrides) {
  const toml::table root = with_seeds(parse_toml(text, file), overrides);
  check_top_level(root, file);
  Study study{.name = name_of(root, file),
              .title = "",
              .text = text,
              .runs = {},
              .search = {},
              .tune = {},
              .expected = {},
              .labels = {}};
  study.title = title_of(root, study.name);
  study.expected = expected_values(root);

  const auto seeds = seeds_of(root);
  study.tune = read_tune(root, seeds);  // first, as a search beside it has no [sweep] either
  study.search = read_search(root, seeds.size());
  if (study.tune) {
    refuse_fixed_keys(*study.tune, root, overrides);
  }
  const auto points = points_of(root, overrides, study.search);
  const auto keys = varying_keys(points);
  require(points.size() * seeds.size() <= kMaxRuns,
          "{} points times {} seeds are more than {} runs",
          points.size(),
          seeds.size(),
          kMaxRuns);
  if (study.tune) {
    study.tune->methods = points.size();
    require(points.size() * study.tune->runs_of_method() <= kMaxRuns,
            "{} methods with {} tuned values and {} seeds of both kinds are more than {} runs",
            points.size(),
            study.tune->plan.levels(),
            study.tune->plan.seeds.size() + seeds.size(),
            kMaxRuns);
  }
  std::vector<nlohmann::json> varying;
  std::set<std::string> labels;
  for (const auto& point : points) {
    varying.push_back(varying_of(point.settings, keys));
    require(point.label.empty() || labels.insert(point.label).second,
            "two points of {} have the label '{}'; give each its own",
            file,
            point.label);
    if (study.tune) {
      add_tuned_runs(point, varying.back(), seeds, study);
      continue;
    }
    for (const std::uint64_t seed : seeds) {
      study.runs.push_back({.seed = seed,
                            .varying = varying.back(),
                            .sections = by_section(point.settings),
                            .label = point.label});
    }
  }
  study.labels = value_labels(root, varying, labels);
  study.own_settings_are_a_run =
      root["point"] && !root["sweep"] && !study.search && points.front().label.empty();
  require_built_objectives(study);
  return study;
}

const Setting* real_execution(const Study& study) {
  for (const RunSpec& spec : study.runs) {
    const auto protocol = spec.sections.find("protocol");
    if (protocol == spec.sections.end()) {
      continue;
    }
    const auto execution = protocol->second.find("execution");
    if (execution != protocol->second.end() && execution->second.value == "real") {
      return &execution->second;
    }
  }
  return nullptr;
}

}  // namespace residuum
