#include "experiments/study.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>

#include "core/text.h"
#include "experiments/long_keys.h"
#include "reports/files.h"

#include <toml++/toml.h>

namespace residuum {
namespace {

using Settings = std::map<std::string, Setting>;  // by dotted key

/// Grids larger than this are a mistake in the file, not an experiment.
constexpr std::size_t kMaxRuns = 100000;

/// What no file holds was given on the command line.
std::string place_of(const toml::source_region& source) {
  if (!source.path && source.begin.line == 0) {
    return "--set";
  }
  return fmt::format("{}:{}:{}",
                     source.path ? *source.path : std::string("study"),
                     source.begin.line,
                     source.begin.column);
}

nlohmann::json to_json(const toml::node& node, int depth = 0) {
  require(depth <= kMostKeyParts,
          "more than {} nested values at {}",
          kMostKeyParts,
          place_of(node.source()));
  if (const auto* table = node.as_table()) {
    auto object = nlohmann::json::object();
    for (const auto& [key, value] : *table) {
      object[std::string(key.str())] = to_json(value, depth + 1);
    }
    return object;
  }
  if (const auto* array = node.as_array()) {
    auto list = nlohmann::json::array();
    for (const auto& value : *array) {
      list.push_back(to_json(value, depth + 1));
    }
    return list;
  }
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* integer = node.as_integer()) {
    return integer->get();
  }
  if (const auto* number = node.as_floating_point()) {
    return number->get();
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get();
  }
  usage_error("dates and times mean nothing here, at {}", place_of(node.source()));
}

Setting setting_of(const toml::node& node, const toml::source_region& key) {
  return {.value = to_json(node), .place = place_of(key)};
}

/// A section's own keys may hold tables ({ geometric = 1.05 }): only the first dot separates.
void flatten(const toml::table& table, Settings& settings) {
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto* section = node.as_table();
    const bool is_section = section != nullptr && name.find('.') == std::string::npos;
    if (!is_section) {
      settings[name] = setting_of(node, key.source());
      continue;
    }
    for (const auto& [inner, value] : *section) {
      settings[fmt::format("{}.{}", name, inner.str())] = setting_of(value, inner.source());
    }
  }
}

void check_known_section(const std::string& dotted, const std::string& place) {
  const auto dot = dotted.find('.');
  const std::string section = dotted.substr(0, dot);
  const auto& known = section_names();
  require(std::find(known.begin(), known.end(), section) != known.end(),
          "unknown key '{}' at {}{}",
          dotted,
          place,
          suggestion(section, known));
  require(dot != std::string::npos, "'{}' at {} must be a section of keys", dotted, place);
}

std::map<std::string, Settings> by_section(const Settings& settings) {
  std::map<std::string, Settings> sections;
  for (const auto& [dotted, setting] : settings) {
    check_known_section(dotted, setting.place);
    const auto dot = dotted.find('.');
    sections[dotted.substr(0, dot)][dotted.substr(dot + 1)] = setting;
  }
  return sections;
}

/// What differs from run to run: the settings of one grid point or of one extra point.
std::vector<Settings> grid_of(const toml::table& root) {
  std::vector<Settings> grid{Settings{}};
  const auto node = root["sweep"];
  if (!node) {
    return grid;
  }
  const auto* sweep = node.as_table();
  require(sweep != nullptr,
          "'sweep' at {} must be a section of keys with lists: [sweep]",
          place_of(node.node()->source()));
  Settings axes;
  flatten(*sweep, axes);
  for (const auto& [dotted, axis] : axes) {
    require(axis.value.is_array() && !axis.value.empty(),
            "'sweep.{}' at {} must be a list of values that is not empty",
            dotted,
            axis.place);
    check_known_section(dotted, axis.place);
    require(grid.size() * axis.value.size() <= kMaxRuns,
            "the sweep at {} has more than {} points",
            axis.place,
            kMaxRuns);
    std::vector<Settings> grown;
    for (const auto& point : grid) {
      for (const auto& value : axis.value) {
        grown.push_back(point);
        grown.back()[dotted] = {.value = value, .place = axis.place};
      }
    }
    grid = std::move(grown);
  }
  return grid;
}

std::vector<Settings> extra_points_of(const toml::table& root) {
  std::vector<Settings> points;
  const auto node = root["point"];
  if (!node) {
    return points;
  }
  const auto* list = node.as_array();
  require(list != nullptr && list->is_homogeneous(toml::node_type::table),
          "'point' at {} must be written [[point]]",
          place_of(node.node()->source()));
  for (const auto& point : *list) {
    flatten(*point.as_table(), points.emplace_back());
  }
  return points;
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
          "'seeds' at {} must lie in 1..{}",
          place_of(node.node()->source()),
          kMaxRuns);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    seeds.push_back(seed);
  }
  return seeds;
}

void check_top_level(const toml::table& root) {
  std::vector<std::string> known = section_names();
  for (const char* key : {"schema", "name", "title", "seeds", "sweep", "point"}) {
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
  require(static_cast<bool>(node), "missing key 'schema'; this program reads schema = 1");
  const auto schema = node.value_exact<std::int64_t>();
  require(
      schema.has_value(), "'schema' at {} must be the number 1", place_of(node.node()->source()));
  require(*schema == 1, "schema {} is unknown; this program reads schema = 1", *schema);
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

toml::table parse(const std::string& text, const std::string& file) {
  refuse_long_keys(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    usage_error("{} at {}", error.description(), place_of(error.source()));
  }
}

/// "sparsifier.k=3" -> the setting; a value that is no TOML is taken as a text.
void apply_override(const std::string& override_text, Settings& settings) {
  const auto equals = override_text.find('=');
  require(equals != std::string::npos && equals > 0,
          "--set {}: write it as key=value, e.g. --set workers.count=8",
          override_text);
  const std::string key = override_text.substr(0, equals);
  require(override_text.find('\n') == std::string::npos,
          "--set {}: a value has no line breaks",
          override_text);
  require(is_utf8(override_text), "--set {}: it is no UTF-8 text", override_text);
  const std::string value = override_text.substr(equals + 1);
  for (const char* fixed : {"schema", "name", "title", "sweep", "point"}) {
    require(key != fixed, "--set {}: '{}' is set in the file alone", override_text, key);
  }
  if (key == "seeds") {
    return;  // not a section's key: `with_seeds` has taken it
  }
  Setting setting{.value = value, .place = "--set"};
  try {
    const std::string line = "v = " + value;
    refuse_long_keys(line, "--set");
    setting.value = to_json(*toml::parse(line).get("v"));
  } catch (const toml::parse_error&) {
    setting.value = value;
  }
  check_known_section(key, setting.place);
  settings[key] = setting;
}

/// An override of a swept key makes the points equal that differed in it alone.
void merge_equal(std::vector<Settings>& points) {
  const auto values = [](const Settings& point) {
    auto object = nlohmann::json::object();
    for (const auto& [key, setting] : point) {
      object[key] = setting.value;
    }
    return object.dump();
  };
  std::set<std::string> seen;
  std::erase_if(points, [&](const Settings& point) { return !seen.insert(values(point)).second; });
}

/// The study with the seeds that an override names, if one does.
toml::table with_seeds(toml::table root, const std::vector<std::string>& overrides) {
  for (const auto& override_text : overrides) {
    if (override_text.rfind("seeds=", 0) == 0) {
      const auto seeds = parse("seeds = " + override_text.substr(6), "--set");
      root.insert_or_assign("seeds", *seeds.get("seeds"));
    }
  }
  return root;
}

/// Keys that take different values over the points, with their value here.
nlohmann::json varying_of(const Settings& point, const std::set<std::string>& keys) {
  auto varying = nlohmann::json::object();
  for (const auto& key : keys) {
    const auto found = point.find(key);
    if (found != point.end()) {
      varying[key] = found->second.value;
    }
  }
  return varying;
}

std::set<std::string> varying_keys(const std::vector<Settings>& points) {
  std::set<std::string> keys;
  for (const auto& point : points) {
    for (const auto& [key, setting] : point) {
      const auto& first = points.front();
      const auto found = first.find(key);
      if (found == first.end() || found->second.value != setting.value) {
        keys.insert(key);
      }
    }
  }
  for (const auto& first : points.front()) {
    const bool everywhere = std::all_of(points.begin(), points.end(), [&](const Settings& point) {
      return point.contains(first.first);
    });
    if (!everywhere) {
      keys.insert(first.first);
    }
  }
  return keys;
}

Settings base_of(const toml::table& root) {
  Settings base;
  for (const auto& section : section_names()) {
    if (const auto* table = root[section].as_table()) {
      for (const auto& [key, node] : *table) {
        base[fmt::format("{}.{}", section, key.str())] = setting_of(node, key.source());
      }
    }
  }
  return base;
}

/// All points of the study: the file's own settings, what a point changes, what overrides force.
std::vector<Settings> points_of(const toml::table& root,
                                const std::vector<std::string>& overrides) {
  const Settings base = base_of(root);
  Settings forced;
  for (const auto& override_text : overrides) {
    apply_override(override_text, forced);
  }
  std::vector<Settings> changes = grid_of(root);
  for (auto& extra : extra_points_of(root)) {
    changes.push_back(std::move(extra));
  }
  std::vector<Settings> points;
  for (const auto& change : changes) {
    // What is inserted first stays: the strongest layer comes first.
    Settings point = forced;
    point.insert(change.begin(), change.end());
    point.insert(base.begin(), base.end());
    points.push_back(std::move(point));
  }
  if (!forced.empty()) {
    merge_equal(points);
  }
  return points;
}

}  // namespace

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names{"objective",
                                              "workers",
                                              "sparsifier",
                                              "aggregator",
                                              "feedback",
                                              "protocol",
                                              "step",
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
  const toml::table root = with_seeds(parse(text, file), overrides);
  check_top_level(root);
  Study study{.name = name_of(root, file), .title = "", .text = text, .runs = {}};
  study.title = title_of(root, study.name);

  const auto points = points_of(root, overrides);
  const auto keys = varying_keys(points);
  const auto seeds = seeds_of(root);
  require(points.size() * seeds.size() <= kMaxRuns,
          "{} points times {} seeds are more than {} runs",
          points.size(),
          seeds.size(),
          kMaxRuns);
  for (const auto& point : points) {
    for (const std::uint64_t seed : seeds) {
      study.runs.push_back(
          {.seed = seed, .varying = varying_of(point, keys), .sections = by_section(point)});
    }
  }
  return study;
}

}  // namespace residuum
