#include "experiments/program/study/study_points.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/study/search_section.h"
#include "experiments/program/study/study.h"
#include "experiments/program/study/study_toml.h"
#include "reports/analysis/short_labels.h"
#include "reports/results/result_folder.h"

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

namespace {

std::size_t characters_in(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;  // each begins with such a byte
  }));
}

std::string label_from(const nlohmann::json& value, const std::string& what) {
  const bool is_text = value.is_string() && is_utf8(value.get_ref<const std::string&>());
  std::string label = is_text ? value.get<std::string>() : std::string();
  const bool is_printable = std::none_of(label.begin(), label.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
  require(is_text && is_printable,
          "{} must be a text of 1 to {} characters",
          what,
          reports::kMostLabelCharacters);
  require(label.find_first_not_of(' ') != std::string::npos,
          "{} is blank; it must be a text of 1 to {} characters",
          what,
          reports::kMostLabelCharacters);
  require(characters_in(label) <= reports::kMostLabelCharacters,
          "{} has {} characters; it must be a text of 1 to {} characters",
          what,
          characters_in(label),
          reports::kMostLabelCharacters);
  return label;
}

/// Returns the values that runs have of a key, as they are shown.
std::vector<std::string> values_of(const std::string& key,
                                   const std::vector<nlohmann::json>& varying) {
  std::vector<std::string> values;
  for (const auto& one : varying) {
    const auto found = one.find(key);
    const std::string text = found == one.end() ? "" : reports::plain_text(*found);
    if (found != one.end() && std::find(values.begin(), values.end(), text) == values.end()) {
      values.push_back(text);
    }
  }
  return values;
}

/// Refuses a name that another value of the key has, or a [[point]].
void require_new_name(const std::string& name,
                      const nlohmann::json& of_key,
                      const std::set<std::string>& of_points,
                      const std::string& what) {
  for (const auto& [value, other] : of_key.items()) {
    require(
        other != name, "{} is '{}', and so is that of '{}'; give each its own", what, name, value);
  }
  require(!of_points.contains(name),
          "{} is '{}', and so is the label of a [[point]]; give each its own",
          what,
          name);
}

}  // namespace

std::string take_label(Settings& point) {
  const auto found = point.find("label");
  if (found == point.end()) {
    return {};
  }
  std::string label =
      label_from(found->second.value, fmt::format("'label' at {}", found->second.place));
  point.erase(found);
  return label;
}

nlohmann::json value_labels(const toml::table& root,
                            const std::vector<nlohmann::json>& varying,
                            const std::set<std::string>& of_points) {
  auto labels = nlohmann::json::object();
  const auto node = root["labels"];
  if (!node) {
    return labels;
  }
  const auto* const table = node.as_table();
  require(table != nullptr,
          "'labels' at {} must be a section of keys with names for their values: [labels]",
          place_of(node.node()->source()));
  Settings keys;
  flatten(*table, keys);
  for (const auto& [key, setting] : keys) {
    check_known_section(key, setting.place);
    require(setting.value.is_object() && !setting.value.empty(),
            "'labels.{}' at {} must name values: {{\"VALUE\" = \"NAME\"}}",
            key,
            setting.place);
    const auto known = values_of(key, varying);
    require(!known.empty(), "'labels.{}' at {}: no runs differ in this key", key, setting.place);
    labels[key] = nlohmann::json::object();
    for (const auto& [value, label] : setting.value.items()) {
      require(std::find(known.begin(), known.end(), value) != known.end(),
              "'labels.{}' at {}: no run has the value '{}'{}",
              key,
              setting.place,
              value,
              suggestion(value, known));
      const std::string what =
          fmt::format("'labels.{}' at {}: the name of '{}'", key, setting.place, value);
      const std::string name = label_from(label, what);
      require_new_name(name, labels[key], of_points, what);
      labels[key][value] = name;
    }
  }
  return labels;
}

}  // namespace residuum
