#include "experiments/program/study/method_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/text.h"
#include "reports/analysis/short_labels.h"
#include "reports/results/result_folder.h"

namespace residuum {
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
