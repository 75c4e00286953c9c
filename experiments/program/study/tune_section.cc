#include "experiments/program/study/tune_section.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/program/study/study.h"
#include "reports/results/csv.h"

namespace residuum {
namespace {

using reports::Json;
using reports::TuningAxis;
using reports::TuningPlan;

constexpr std::size_t kMostValues = 1000;  // of a tuned key, and of steps beyond the grid
constexpr std::uint64_t kFirstTuningSeed = 1001;
constexpr std::array<const char*, 7> kTuneKeys{
    "seeds", "quantity", "target", "target_of", "extend", "extend_by", "halving"};

/// Returns the number to six significant digits: values of a grid look as one would write them, and
/// are the same on every machine.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

/// Returns the number by which a value can be put in order: of a number itself, without a rest, or
/// of a text with a number in front, as "0.5/L".
std::optional<LeadingNumber<double>> order_of(const nlohmann::json& value) {
  if (value.is_number()) {
    return LeadingNumber<double>{.number = value.get<double>(), .rest = {}};
  }
  if (!value.is_string()) {
    return std::nullopt;
  }
  const auto found = leading_number<double>(value.get_ref<const std::string&>());
  return found && !found->rest.empty() ? found : std::nullopt;
}

/// Returns a value of the axis: as it would be written, an integer where the grid has only these.
Json value_of(double number, const std::string& rest, bool is_integer) {
  if (!rest.empty()) {
    return reports::format_number(number) + rest;
  }
  const double whole = std::round(number);
  return is_integer && whole == number ? Json(static_cast<std::int64_t>(whole)) : Json(number);
}

/// Returns the values of a grid "log:FROM..TO:COUNT", with what follows COUNT, as "/L", behind
/// each; nothing where the text is no grid.
std::optional<std::vector<nlohmann::json>> log_grid(const std::string& text,
                                                    const std::string& where) {
  constexpr std::string_view kPrefix = "log:";
  if (!text.starts_with(kPrefix)) {
    return std::nullopt;
  }
  const std::string_view grid = std::string_view(text).substr(kPrefix.size());
  // The dots part the text first: "1." is a number, too.
  const std::size_t dots = std::min(grid.find(".."), grid.size());
  const std::string_view behind = grid.substr(std::min(dots + 2, grid.size()));
  const std::size_t colon = std::min(behind.find(':'), behind.size());
  const double from = parsed<double>(grid.substr(0, dots)).value_or(0);
  const double to = parsed<double>(behind.substr(0, colon)).value_or(0);
  const auto counted =
      leading_number<std::size_t>(behind.substr(std::min(colon + 1, behind.size())));
  const std::size_t count = counted ? counted->number : 0;
  require(from > 0 && to > from && std::isfinite(to) && count >= 2 && count <= kMostValues,
          "{} must be \"log:FROM..TO:COUNT\" with 0 < FROM < TO and COUNT in 2..{}, such as "
          "\"log:1e-3..1:7\"; got '{}'",
          where,
          kMostValues,
          text);
  const std::string rest(counted->rest);
  std::vector<nlohmann::json> values;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(count - 1);
    values.emplace_back(value_of(rounded(from * std::pow(to / from, share)), rest, false));
  }
  return values;
}

/// Returns the values that a key is given.
std::vector<nlohmann::json> values_of(const Setting& setting, const std::string& where) {
  if (setting.value.is_string()) {
    if (auto grid = log_grid(setting.value.get<std::string>(), where)) {
      return *std::move(grid);
    }
  }
  require(setting.value.is_array(),
          "{} must be a list of values, or \"log:FROM..TO:COUNT\" such as \"log:1e-3..1:7\"",
          where);
  require(setting.value.size() >= 2 && setting.value.size() <= kMostValues,
          "{}: tuning is among 2 to {} values, got {}",
          where,
          kMostValues,
          setting.value.size());
  return setting.value.get<std::vector<nlohmann::json>>();
}

/// Adds values beyond an edge of the grid, in its own ratio. There are none beyond zero.
void extend_axis(
    TuningAxis& axis, const std::string& rest, bool is_integer, bool upwards, std::size_t steps) {
  const std::size_t n = axis.numbers.size();
  const double edge = upwards ? axis.numbers[n - 1] : axis.numbers[0];
  const double inner = upwards ? axis.numbers[n - 2] : axis.numbers[1];
  const double ratio = edge / inner;
  if (!(ratio > 0) || !std::isfinite(ratio)) {
    return;
  }
  double last = edge;
  for (std::size_t i = 1; i <= steps; ++i) {
    const double number = rounded(edge * std::pow(ratio, static_cast<double>(i)));
    if (!std::isfinite(number) || number == 0 || number == last) {
      return;
    }
    last = number;
    const auto at = [&](auto& list) { return upwards ? list.end() : list.begin(); };
    axis.numbers.insert(at(axis.numbers), number);
    axis.values.insert(at(axis.values), value_of(number, rest, is_integer));
    axis.first += upwards ? 0 : 1;
    axis.last += upwards ? 0 : 1;
  }
}

/// Puts the values in order where they have one, and refuses one that is there twice.
TuningAxis axis_of(const std::string& key,
                   std::vector<nlohmann::json> values,
                   const std::string& where,
                   std::size_t steps) {
  TuningAxis axis{.key = key, .values = {}, .numbers = {}, .first = 0, .last = values.size() - 1};
  std::vector<LeadingNumber<double>> numbers;
  bool is_integer = true;
  for (const auto& value : values) {
    require(std::count(values.begin(), values.end(), value) == 1,
            "{} has the value {} twice",
            where,
            shown(value));
    const auto number = order_of(value);
    is_integer = is_integer && value.is_number_integer();
    if (number && std::isfinite(number->number) &&
        (numbers.empty() || numbers.front().rest == number->rest)) {
      numbers.push_back(*number);
    }
  }
  if (numbers.size() < values.size()) {
    axis.values.assign(values.begin(), values.end());
    return axis;
  }
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
    return order_of(a)->number < order_of(b)->number;
  });
  for (const auto& value : values) {
    axis.values.emplace_back(value);
    axis.numbers.push_back(order_of(value)->number);
  }
  const std::string rest(numbers.front().rest);
  extend_axis(axis, rest, is_integer, true, steps);
  extend_axis(axis, rest, is_integer, false, steps);
  return axis;
}

/// Reads the seeds: a list, or how many from kFirstTuningSeed on.
std::vector<std::uint64_t> tuning_seeds(const Section& section,
                                        const std::vector<std::uint64_t>& others) {
  const auto given = section.any("seeds", 2);
  const std::string where = section.where("seeds");
  const auto is_seed = [](const nlohmann::json& one) {
    return one.is_number_unsigned() || (one.is_number_integer() && one.get<std::int64_t>() >= 0);
  };
  std::vector<std::uint64_t> seeds;
  if (given.is_array()) {
    require(!given.empty() && std::all_of(given.begin(), given.end(), is_seed),
            "{} must be whole numbers of at least 0, or how many seeds",
            where);
    seeds = given.get<std::vector<std::uint64_t>>();
  } else {
    require(is_seed(given) && given >= 1 && given <= kMaxRuns,
            "{} must be how many seeds, from 1 to {}, or a list of them; got {}",
            where,
            kMaxRuns,
            shown(given));
    for (std::uint64_t i = 0; i < given.get<std::uint64_t>(); ++i) {
      seeds.push_back(kFirstTuningSeed + i);
    }
  }
  for (const std::uint64_t seed : seeds) {
    require(std::count(seeds.begin(), seeds.end(), seed) == 1, "{} has {} twice", where, seed);
    require(
        std::find(others.begin(), others.end(), seed) == others.end(),
        "{}: seed {} is one of the study's own 'seeds'; a value is chosen on seeds that are not "
        "reported",
        where,
        seed);
  }
  return seeds;
}

void read_quantity(const Section& section, TuningPlan& plan) {
  plan.quantity = section.choice(
      "quantity", {"loss", "loss-gap", "accuracy", "iterations", "bytes", "time"}, "loss");
  const bool is_cost =
      plan.quantity == "iterations" || plan.quantity == "bytes" || plan.quantity == "time";
  if (!is_cost) {
    for (const char* key : {"target", "target_of"}) {
      require(!section.has(key),
              "{} is of quantities that are spent: iterations, bytes or time; {} is '{}'",
              section.where(key),
              section.where("quantity"),
              plan.quantity);
    }
    return;
  }
  require(section.has("target"),
          "{}: '{}' is spent until a target is reached; give 'target', such as target = 0.35",
          section.where("quantity"),
          plan.quantity);
  plan.target_of = section.choice("target_of", {"loss", "loss-gap", "accuracy"}, "loss");
  plan.target = section.number("target");
  require(std::isfinite(*plan.target), "{} must be a number", section.where("target"));
}

void read_halving(const Section& section, StudyTune& tune) {
  const auto halving = section.integer("halving", 0);
  tune.place_of_halving = section.where("halving");
  require(
      halving == 0 || (halving >= 2 && halving <= static_cast<std::int64_t>(reports::kMostHalving)),
      "{} must be 0, or from 2 to {}, got {}",
      tune.place_of_halving,
      reports::kMostHalving,
      halving);
  require(halving == 0 || !tune.plan.extends,
          "{} runs few values for the whole budget and 'extend' asks for more of these; take one",
          tune.place_of_halving);
  tune.plan.halving = static_cast<std::size_t>(halving);
}

/// Refuses what cannot stand beside [tune].
void refuse_search(const toml::table& root, const std::string& place) {
  if (const auto search = root["search"]) {
    usage_error("'search' at {}: a study with [tune] at {} makes other runs; take one of them out",
                place_of(search.node()->source()),
                place);
  }
}

/// Parts the keys of [tune] itself from those that it tunes.
Section own_keys(Settings& settings) {
  Settings own;
  std::vector<std::string> known(kTuneKeys.begin(), kTuneKeys.end());
  for (auto at = settings.begin(); at != settings.end();) {
    const bool is_own = at->first.find('.') == std::string::npos;
    const bool is_known = std::find(known.begin(), known.end(), at->first) != known.end();
    if (is_own && !is_known) {
      auto names = known;
      names.insert(names.end(), section_names().begin(), section_names().end());
      const std::string near = suggestion(at->first, names);
      usage_error("unknown key 'tune.{}' at {}{}",
                  at->first,
                  at->second.place,
                  near.empty() ? "; a tuned key names its section, as \"step.value\" does" : near);
    }
    if (is_own) {
      own.insert(*at);
      at = settings.erase(at);
    } else {
      ++at;
    }
  }
  return Section::with_places("tune", std::move(own));
}

}  // namespace

std::optional<StudyTune> read_tune(const toml::table& root,
                                   const std::vector<std::uint64_t>& seeds) {
  const auto node = root["tune"];
  if (!node) {
    return std::nullopt;
  }
  const auto* table = node.as_table();
  const std::string place = place_of(node.node()->source());
  require(table != nullptr, "'tune' at {} must be a section: [tune]", place);
  refuse_search(root, place);
  Settings keys;
  flatten(*table, keys);
  const Section section = own_keys(keys);
  require(!keys.empty(),
          "[tune] at {} names no key to tune; give one with its values, such as \"step.value\" = "
          "\"log:1e-3..1:7\"",
          place);
  StudyTune tune;
  read_quantity(section, tune.plan);
  tune.place = section.where("quantity");
  tune.plan.seeds = tuning_seeds(section, seeds);
  tune.seeds = seeds.size();
  tune.plan.extends = section.flag("extend", false);
  const auto steps = section.integer("extend_by", 4);
  require(steps >= 1 && steps <= static_cast<std::int64_t>(kMostValues),
          "{} must lie in 1..{}, got {}",
          section.where("extend_by"),
          kMostValues,
          steps);
  read_halving(section, tune);
  section.finish();
  for (const auto& [key, setting] : keys) {
    check_known_section(key, setting.place);
    require(tune.plan.halving == 0 || !key.starts_with("budget."),
            "'tune.{}' at {}: halving shortens the budget, which cannot be tuned beside it",
            key,
            setting.place);
    const std::string where = fmt::format("'tune.{}' at {}", key, setting.place);
    tune.plan.axes.push_back(axis_of(key,
                                     values_of(setting, where),
                                     where,
                                     tune.plan.extends ? static_cast<std::size_t>(steps) : 0));
    tune.places.push_back(where);
    require(tune.plan.levels() <= kMaxRuns,
            "[tune] at {} has more than {} combinations of values",
            place,
            kMaxRuns);
  }
  return tune;
}

void refuse_fixed_keys(const StudyTune& tune,
                       const toml::table& root,
                       const std::vector<std::string>& overrides) {
  Settings fixed;
  const auto add = [&](const toml::table& table) {
    Settings keys;
    flatten(table, keys);
    fixed.insert(keys.begin(), keys.end());
  };
  if (const auto* sweep = root["sweep"].as_table()) {
    add(*sweep);
  }
  if (const auto* points = root["point"].as_array()) {
    for (const auto& point : *points) {
      if (const auto* table = point.as_table()) {
        add(*table);
      }
    }
  }
  for (std::size_t axis = 0; axis < tune.plan.axes.size(); ++axis) {
    const std::string& key = tune.plan.axes[axis].key;
    const auto found = fixed.find(key);
    require(found == fixed.end(),
            "{} is also given at {}: a key is tuned for every method or swept over them; take one "
            "out",
            tune.places[axis],
            found == fixed.end() ? "" : found->second.place);
    for (const auto& text : overrides) {
      require(
          !text.starts_with(key + '='), "--set {}: {} gives its values", key, tune.places[axis]);
    }
  }
}

nlohmann::json tuned_values(const StudyTune& tune, std::size_t level) {
  auto values = nlohmann::json::object();
  const auto places = tune.plan.places_of(level);
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    values[tune.plan.axes[axis].key] = nlohmann::json(tune.plan.axes[axis].values[places[axis]]);
  }
  return values;
}

Settings settings_at(const Settings& method, const StudyTune& tune, std::size_t level) {
  Settings settings = method;
  const auto values = tuned_values(tune, level);
  for (std::size_t axis = 0; axis < tune.plan.axes.size(); ++axis) {
    const std::string& key = tune.plan.axes[axis].key;
    const auto at = tune.places[axis].find("' at ");
    settings[key] = {.value = values.at(key), .place = tune.places[axis].substr(at + 5)};
  }
  return settings;
}

nlohmann::json take_share_of_budget(const StudyTune& tune, double share, Settings& settings) {
  const auto found = std::find_if(settings.begin(), settings.end(), [](const auto& setting) {
    return setting.first.starts_with("budget.") && setting.first != "budget.loss_bound" &&
           setting.second.value.is_number();
  });
  require(found != settings.end(),
          "{} shortens a budget, and [budget] has no iterations, epochs, gradients or virtual_s",
          tune.place_of_halving);
  const auto shorten = [share](nlohmann::json& value) {
    if (value.is_number_integer()) {
      value = static_cast<std::int64_t>(std::ceil(share * value.get<double>()));
    } else if (value.is_number()) {
      value = share * value.get<double>();
    }
  };
  shorten(found->second.value);
  for (const char* key : {"step.until", "step.warmup"}) {
    if (const auto length = settings.find(key); length != settings.end()) {
      shorten(length->second.value);
    }
  }
  if (const auto stones = settings.find("step.milestones");
      stones != settings.end() && stones->second.value.is_array()) {
    for (auto& stone : stones->second.value) {
      shorten(stone);
    }
  }
  return {{found->first, found->second.value}};
}

bool is_extension(const TuningPlan& plan, std::size_t level) {
  const auto places = plan.places_of(level);
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    if (places[axis] < plan.axes[axis].first || places[axis] > plan.axes[axis].last) {
      return true;
    }
  }
  return false;
}

}  // namespace residuum
