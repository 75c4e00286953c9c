#include "experiments/program/study/study_points.h"

#include <algorithm>

#include "core/text.h"
#include "experiments/program/study/long_keys.h"
#include "experiments/program/study/method_labels.h"
#include "experiments/program/study/search_section.h"
#include "experiments/program/study/study.h"

namespace residuum {
namespace {

/// Returns the settings that [sweep] changes, one entry for each point of the grid.
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
    if (axis.value.size() == 1) {  // nothing grows
      for (auto& point : grid) {
        point[dotted] = {.value = axis.value.front(), .place = axis.place};
      }
      continue;
    }
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

std::vector<StudyPoint> extra_points_of(const toml::table& root) {
  std::vector<StudyPoint> points;
  const auto node = root["point"];
  if (!node) {
    return points;
  }
  const auto* list = node.as_array();
  require(list != nullptr && list->is_homogeneous(toml::node_type::table),
          "'point' at {} must be written [[point]]",
          place_of(node.node()->source()));
  for (const auto& point : *list) {
    StudyPoint& extra = points.emplace_back();
    flatten(*point.as_table(), extra.settings);
    extra.label = take_label(extra.settings);
  }
  return points;
}

/// Adds the setting that "sparsifier.k=3" gives; a value that is no TOML is taken as a text.
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
  for (const char* fixed :
       {"schema", "name", "title", "sweep", "point", "labels", "search", "tune", "expected"}) {
    require(key != fixed && !key.starts_with(std::string(fixed) + '.'),
            "--set {}: '{}' is set in the file alone",
            override_text,
            key);
  }
  if (key == "seeds") {
    return;  // not a section's key: `with_seeds` has taken it
  }
  Setting setting{.value = value, .place = "--set"};
  try {
    const std::string line = "v = " + value;
    refuse_long_keys(line, "--set");
    const toml::table table = toml::parse(line);
    setting.value = setting_of(*table.get("v"), table.source()).value;
  } catch (const toml::parse_error&) {
    setting.value = value;
  }
  check_known_section(key, setting.place);
  settings[key] = setting;
}

/// Merges points that an override of a swept key has made equal.
void merge_equal(std::vector<StudyPoint>& points) {
  const auto values = [](const Settings& point) {
    auto object = nlohmann::json::object();
    for (const auto& [key, setting] : point) {
      object[key] = setting.value;
    }
    return object.dump();
  };
  std::set<std::string> seen;
  std::erase_if(
      points, [&](const StudyPoint& point) { return !seen.insert(values(point.settings)).second; });
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

/// A list counts as its entries, a text by its length.
std::size_t values_in(const nlohmann::json& value) {
  constexpr std::size_t kCharacters = 16;
  if (value.is_string()) {
    return 1 + value.get_ref<const std::string&>().size() / kCharacters;
  }
  std::size_t sum = 1;
  for (const auto& inner : value.is_structured() ? value : nlohmann::json::array()) {
    sum += values_in(inner);
  }
  return sum;
}

/// Every point has all values of the study, so that long lists times many points fill the memory.
void check_size(const Settings& base, std::size_t points) {
  constexpr std::size_t kMostValues = 20'000'000;
  std::size_t values = 0;
  for (const auto& [key, setting] : base) {
    values += values_in(setting.value);
  }
  require(values == 0 || points <= kMostValues / values,
          "the study has {} points of {} values each; all points together may have {}",
          points,
          values,
          kMostValues);
}

}  // namespace

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

std::set<std::string> varying_keys(const std::vector<StudyPoint>& points) {
  std::set<std::string> keys;
  const Settings& first = points.front().settings;
  for (const auto& point : points) {
    for (const auto& [key, setting] : point.settings) {
      const auto found = first.find(key);
      if (found == first.end() || found->second.value != setting.value) {
        keys.insert(key);
      }
    }
  }
  for (const auto& one : first) {
    const bool everywhere = std::all_of(points.begin(), points.end(), [&](const StudyPoint& point) {
      return point.settings.contains(one.first);
    });
    if (!everywhere) {
      keys.insert(one.first);
    }
  }
  return keys;
}

std::vector<StudyPoint> points_of(const toml::table& root,
                                  const std::vector<std::string>& overrides,
                                  const std::optional<StudySearch>& search) {
  const Settings base = base_of(root);
  Settings forced;
  for (const auto& override_text : overrides) {
    apply_override(override_text, forced);
  }
  std::vector<StudyPoint> changes;
  for (auto& point : grid_of(root)) {
    changes.push_back({.settings = std::move(point), .label = {}});
  }
  for (auto& extra : extra_points_of(root)) {
    changes.push_back(std::move(extra));
  }
  check_size(base, search ? 1 + search->values.size() : changes.size());
  std::vector<StudyPoint> points;
  for (const auto& change : changes) {
    // `insert` leaves what is there, so that the strongest settings come first.
    Settings point = forced;
    point.insert(change.settings.begin(), change.settings.end());
    point.insert(base.begin(), base.end());
    // A [[point]] of a label alone names the study's own settings, which are a run already.
    const bool is_own = change.settings.empty() && changes.front().settings.empty();
    if (is_own && !change.label.empty() && !points.empty()) {
      points.front().label = change.label;
      continue;
    }
    points.push_back({.settings = std::move(point), .label = change.label});
  }
  if (search) {
    require(
        !forced.contains(search->key), "--set {}: {} gives its values", search->key, search->place);
    const Settings only = points.front().settings;
    points.clear();
    for (auto& point : search_points(only, *search)) {
      points.push_back({.settings = std::move(point), .label = {}});
    }
    return points;
  }
  if (!forced.empty()) {
    merge_equal(points);
  }
  return points;
}

}  // namespace residuum
