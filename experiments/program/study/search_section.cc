#include "experiments/program/study/search_section.h"

#include <algorithm>
#include <cmath>

#include "experiments/program/study/study.h"

namespace residuum {
namespace {

constexpr std::size_t kMostLevels = 1000;

Section section_of(const toml::table& table) {
  std::map<std::string, Setting> settings;
  for (const auto& [key, node] : table) {
    settings.emplace(std::string(key.str()), setting_of(node, key.source()));
  }
  return Section::with_places("search", std::move(settings));
}

std::vector<double> numbers_of(const Section& section, const std::string& key) {
  const auto list = section.any(key);
  const auto is_number = [](const nlohmann::json& one) {
    return one.is_number() && std::isfinite(one.get<double>());
  };
  require(list.is_array() && std::all_of(list.begin(), list.end(), is_number),
          "{} must be a list of numbers{}",
          section.where(key),
          key == "ratios" ? ", or { from = 10, to = 1000, factor = 2 }" : "");
  return list.get<std::vector<double>>();
}

/// Reads { from, to, factor }.
std::vector<double> range_of(const nlohmann::json& range, const std::string& where) {
  const auto number = [&](const char* key) {
    const auto found = range.find(key);
    return found != range.end() && found->is_number() ? found->get<double>() : std::nan("");
  };
  const double from = number("from");
  const double to = number("to");
  const double factor = number("factor");
  require(range.size() == 3 && from >= 1 && to > from && factor > 1 && std::isfinite(to) &&
              std::isfinite(factor),
          "{} must be a list, or a range {{ from = 10, to = 1000, factor = 2 }} with from >= 1, to "
          "> from and factor > 1; got {}",
          where,
          shown(range));
  constexpr double kRounding = 1e-9;
  std::vector<double> ratios;
  for (double ratio = from; ratio <= to * (1 + kRounding) && ratios.size() <= kMostLevels;
       ratio *= factor) {
    ratios.push_back(ratio);
  }
  return ratios;
}

std::vector<double> ratios_of(const Section& section) {
  const auto given = section.any("ratios");
  const std::string where = section.where("ratios");
  auto ratios = given.is_object() ? range_of(given, where) : numbers_of(section, "ratios");
  std::sort(ratios.begin(), ratios.end());
  require(ratios.empty() || ratios.front() >= 1,
          "{} must be at least 1 (a ratio is 1/density); got {}",
          where,
          ratios.empty() ? 0 : ratios.front());
  return ratios;
}

/// Reads the compressions, as ratios or as values of the key.
void read_levels(const Section& section, StudySearch& search) {
  const bool by_ratios = section.has("ratios");
  const bool by_values = section.has("values");
  require(by_ratios != by_values,
          "[search] wants either 'ratios', of 1/density, or 'values' of {}, from the least "
          "compression to the most",
          search.key);
  const std::string key = by_ratios ? "ratios" : "values";
  const auto levels = by_ratios ? ratios_of(section) : numbers_of(section, "values");
  const std::string where = section.where(key);
  require(levels.size() >= 2 && levels.size() <= kMostLevels,
          "{}: a search is among 2 to {} compressions, got {}",
          where,
          kMostLevels,
          levels.size());
  const bool rises = std::is_sorted(levels.begin(), levels.end(), std::less_equal<>());
  const bool falls = std::is_sorted(levels.begin(), levels.end(), std::greater_equal<>());
  require(rises || falls,
          "{} must rise or fall from the least compression to the most, none of them twice",
          where);
  const auto given = section.any(key);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    search.values.push_back(by_ratios ? nlohmann::json(1 / levels[i]) : given[i]);
  }
  if (!by_ratios) {
    return;
  }
  require(
      search.key.ends_with(".density"),
      "{} need a density key, but {} is '{}'; give 'values' of it, from the least compression to "
      "the most",
      where,
      section.where("key"),
      search.key);
  search.ratios = levels;
}

/// Reads the settings of dense training, "section.key" by "section.key".
Settings read_dense(const Section& section, const StudySearch& search) {
  const nlohmann::json usual{{"sparsifier", {{"kind", "none"}}},
                             {"quantiser", {{"kind", "none"}}},
                             {"aggregator", {{"kind", "dense"}}}};
  const auto given = section.any("dense", usual);
  const std::string where = section.where("dense");
  std::string place = where;  // stands behind the name of a setting
  std::erase(place, '\'');
  require(given.is_object(),
          "{} must be a table of settings such as {{ protocol.kind = \"bsp\" }}",
          where);
  Settings settings;
  for (const auto& [name, value] : given.items()) {
    if (name.find('.') != std::string::npos || !value.is_object()) {
      settings[name] = {.value = value, .place = place};
      continue;
    }
    for (const auto& [key, inner] : value.items()) {
      settings[fmt::format("{}.{}", name, key)] = {.value = inner, .place = place};
    }
  }
  const std::string own = search.key.substr(0, search.key.find('.') + 1);
  bool changes_section = false;
  for (const auto& [dotted, setting] : settings) {
    check_known_section(dotted, where);
    changes_section = changes_section || dotted.starts_with(own);
  }
  require(
      changes_section,
      "'{}' at {} has no dense baseline: 'search.dense' must say which settings dense training has "
      "in [{}], such as dense = {{ {}kind = ... }}",
      search.key,
      search.place,
      own.substr(0, own.size() - 1),
      own);
  return settings;
}

void read_margin(const Section& section, reports::SearchPlan& plan) {
  const bool has_margin = section.has("margin");
  plan.is_relative = section.has("relative_margin");
  require(!(has_margin && plan.is_relative),
          "{} and {}: give one of them",
          section.where("margin"),
          section.where("relative_margin"));
  const char* key = plan.is_relative ? "relative_margin" : "margin";
  plan.margin = section.number(key, 0);
  require(plan.margin >= 0, "{} must be at least 0, got {}", section.where(key), plan.margin);
  plan.is_relative = plan.is_relative && plan.margin > 0;
}

void read_error(const Section& section, std::size_t seeds, reports::SearchPlan& plan) {
  plan.alpha = section.number("alpha", 0.05);
  require(plan.alpha >= reports::kLeastAlpha && plan.alpha < 1,
          "{} must be at least {} and below 1, got {}",
          section.where("alpha"),
          reports::kLeastAlpha,
          plan.alpha);
  require(seeds >= 2, "a search compares runs of at least 2 seeds; set 'seeds' to the most");
  const auto most = static_cast<std::int64_t>(seeds);
  const auto first = section.integer("first", std::min<std::int64_t>(4, most));
  require(first >= 2 && first <= most,
          "{} must lie in 2..{}, which are all seeds of the study; got {}",
          section.where("first"),
          most,
          first);
  plan.looks = reports::doubling_looks(static_cast<std::size_t>(first), seeds);
}

void refuse_other_points(const toml::table& root) {
  for (const char* other : {"sweep", "point"}) {
    if (const auto node = root[other]) {
      usage_error(
          "'{}' at {}: a search has the points of its own compressions; take [search] or "
          "this out",
          other,
          place_of(node.node()->source()));
    }
  }
}

}  // namespace

std::optional<StudySearch> read_search(const toml::table& root, std::size_t seeds) {
  const auto node = root["search"];
  if (!node) {
    return std::nullopt;
  }
  const auto* table = node.as_table();
  require(table != nullptr,
          "'search' at {} must be a section: [search]",
          place_of(node.node()->source()));
  refuse_other_points(root);
  const Section section = section_of(*table);
  StudySearch search{.key = section.text("key"), .place = section.where("key"), .seeds = seeds};
  check_known_section(search.key, section.where("key"));
  read_levels(section, search);
  search.quantity = section.choice("quantity", {"loss", "loss-gap", "accuracy"}, "loss");
  reports::SearchPlan& plan = search.plan;
  plan.levels = search.values.size();
  plan.higher_is_better = search.quantity == "accuracy";
  read_margin(section, plan);
  read_error(section, seeds, plan);
  plan.ascends = section.choice("order", {"bisection", "ascending"}, "bisection") == "ascending";
  search.dense = read_dense(section, search);
  section.finish();
  return search;
}

std::vector<Settings> search_points(const Settings& base, const StudySearch& search) {
  Settings dense = base;
  for (const auto& [dotted, setting] : search.dense) {
    const std::string section = dotted.substr(0, dotted.find('.') + 1);
    std::erase_if(dense, [&](const auto& one) {
      return one.first.starts_with(section) && !search.dense.contains(one.first);
    });
    dense[dotted] = setting;
  }
  std::vector<Settings> points{std::move(dense)};
  for (const auto& value : search.values) {
    points.push_back(base);
    points.back()[search.key] = {.value = value, .place = search.place};
  }
  return points;
}

nlohmann::json plan_of(const StudySearch& search) {
  const auto& plan = search.plan;
  return {{"key", search.key},
          {"values", search.values},
          {"ratios", search.ratios},
          {"quantity", search.quantity},
          {"margin", plan.margin},
          {"relative", plan.is_relative},
          {"alpha", plan.alpha},
          {"looks", plan.looks},
          {"order", plan.ascends ? "ascending" : "bisection"}};
}

}  // namespace residuum
