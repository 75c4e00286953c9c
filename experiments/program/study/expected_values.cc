#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "experiments/program/study/study_toml.h"
#include "reports/analysis/expected.h"

namespace residuum {
namespace {

/// Reads one [[expected]]; `place` is that of its header.
class ExpectedEntry {
 public:
  explicit ExpectedEntry(const toml::table& table)
      : table_(&table), place_(place_of(table.source())) {
    const std::vector<std::string> known{"quantity", "at", "value", "interval", "source", "where"};
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      require(std::find(known.begin(), known.end(), name) != known.end(),
              "unknown key '{}' of [[expected]] at {}{}",
              name,
              place_of(key.source()),
              suggestion(name, known));
    }
  }

  nlohmann::json read() const {
    nlohmann::json entry{{"quantity", quantity()}, {"source", text("source")}};
    entry["at"] = at(entry["quantity"]);
    if (table_->contains("value")) {
      entry["value"] = number((*table_)["value"], "value");
    }
    if (table_->contains("interval")) {
      entry["interval"] = interval();
    }
    require(entry.contains("value") || entry.contains("interval"),
            "[[expected]] at {} has neither 'value' nor 'interval'",
            place_);
    entry["where"] = where();
    return entry;
  }

 private:
  std::string place_of_key(const char* key) const {
    return place_of((*table_)[key].node()->source());
  }

  std::string text(const char* key) const {
    const auto node = (*table_)[key];
    require(static_cast<bool>(node), "[[expected]] at {} has no '{}'", place_, key);
    const auto value = node.value_exact<std::string>();
    require(value.has_value(), "'{}' at {} must be a text", key, place_of_key(key));
    return *value;
  }

  std::string quantity() const {
    std::string name = text("quantity");
    const auto known = reports::quantities_to_expect();
    require(
        name.starts_with("facts.") || std::find(known.begin(), known.end(), name) != known.end(),
        "unknown quantity '{}' at {}{}",
        name,
        place_of_key("quantity"),
        suggestion(name, known));
    return name;
  }

  nlohmann::json at(const std::string& quantity) const {
    const auto node = (*table_)["at"];
    if (!node) {
      return "end";
    }
    const auto word = node.value_exact<std::string>();
    const auto iteration = node.value_exact<std::int64_t>();
    require((word && (*word == "end" || *word == "max" || *word == "mean")) ||
                (iteration && *iteration >= 0),
            "'at' at {} must be \"end\", \"max\", \"mean\" or an iteration",
            place_of_key("at"));
    require(!reports::is_one_number(quantity) || word == "end",
            "'at' at {}: '{}' is one number of a run; leave it out",
            place_of_key("at"),
            quantity);
    return word ? nlohmann::json(*word) : nlohmann::json(*iteration);
  }

  static double number(const toml::node_view<const toml::node>& node, const char* key) {
    const auto value = node.value<double>();
    require(node.is_number() && value && std::isfinite(*value),
            "'{}' at {} must be a number",
            key,
            place_of(node.node()->source()));
    return *value;
  }

  nlohmann::json interval() const {
    const auto node = (*table_)["interval"];
    const auto* list = node.as_array();
    require(list != nullptr && list->size() == 2,
            "'interval' at {} must be a list of two numbers",
            place_of_key("interval"));
    const double low = number(node[0], "interval");
    const double high = number(node[1], "interval");
    require(low <= high, "'interval' at {} ends before it begins", place_of_key("interval"));
    return {low, high};
  }

  /// Returns the settings of the methods that are meant, by dotted key.
  nlohmann::json where() const {
    auto settings = nlohmann::json::object();
    const auto node = (*table_)["where"];
    if (!node) {
      return settings;
    }
    const auto* table = node.as_table();
    require(table != nullptr,
            "'where' at {} must be a table of settings, e.g. {{ \"sparsifier.kind\" = \"top-k\" }}",
            place_of_key("where"));
    Settings wanted;
    flatten(*table, wanted);
    for (const auto& [key, setting] : wanted) {
      check_known_section(key, setting.place);
      require(!setting.value.is_number_float() || std::isfinite(setting.value.get<double>()),
              "'{}' at {} is no number that a setting can have",
              key,
              setting.place);
      settings[key] = setting.value;
    }
    return settings;
  }

  const toml::table* table_;
  std::string place_;
};

}  // namespace

nlohmann::json expected_values(const toml::table& root) {
  auto values = nlohmann::json::array();
  const auto node = root["expected"];
  if (!node) {
    return values;
  }
  const auto* list = node.as_array();
  require(list != nullptr && list->is_homogeneous(toml::node_type::table),
          "'expected' at {} must be written [[expected]]",
          place_of(node.node()->source()));
  for (const auto& entry : *list) {
    values.push_back(ExpectedEntry(*entry.as_table()).read());
  }
  return values;
}

}  // namespace residuum
