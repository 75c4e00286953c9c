#include "core/config/section.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace residuum {
namespace {

std::map<std::string, Setting> without_places(const nlohmann::json& values) {
  std::map<std::string, Setting> settings;
  for (const auto& [key, value] : values.items()) {
    settings.emplace(key, Setting{.value = value, .place = ""});
  }
  return settings;
}

}  // namespace

std::string shown(const nlohmann::json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    return fmt::format("{}", value.get<double>());
  }
  if (!value.is_structured()) {
    return value.dump();
  }
  std::string text;
  for (const auto& [key, element] : value.items()) {
    const std::string name = value.is_object() ? nlohmann::json(key).dump() + ':' : "";
    text += fmt::format("{}{}{}", text.empty() ? "" : ",", name, shown(element));
  }
  return value.is_array() ? '[' + text + ']' : '{' + text + '}';
}

Section::Section(std::string name, const nlohmann::json& values)
    : name_(std::move(name)), settings_(without_places(values)) {}

Section Section::with_places(std::string name, std::map<std::string, Setting> settings) {
  Section section;
  section.name_ = std::move(name);
  section.settings_ = std::move(settings);
  return section;
}

const Setting* Section::find(const std::string& key) const {
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
    known_.push_back(key);
  }
  const auto found = settings_.find(key);
  return found == settings_.end() ? nullptr : &found->second;
}

const Setting& Section::require_present(const Setting* setting, const std::string& key) const {
  const auto kind = settings_.find("kind");
  const bool has_place = kind != settings_.end() && !kind->second.place.empty();
  require(setting != nullptr,
          "missing key '{}.{}'{}",
          name_,
          key,
          has_place ? fmt::format(", beside {}", where("kind")) : "");
  return *setting;
}

std::string Section::where(const std::string& key) const {
  const auto found = settings_.find(key);
  if (found == settings_.end() || found->second.place.empty()) {
    return fmt::format("'{}.{}'", name_, key);
  }
  return fmt::format("'{}.{}' at {}", name_, key, found->second.place);
}

Section Section::with(const std::string& key, const nlohmann::json& value) const {
  auto settings = settings_;
  settings.insert_or_assign(key, Setting{.value = value, .place = "the default"});
  return with_places(name_, std::move(settings));
}

double Section::number(const std::string& key, std::optional<double> fallback) const {
  const Setting* setting = find(key);
  if (setting == nullptr && fallback) {
    resolved_[key] = *fallback;
    return *fallback;
  }
  const auto& value = require_present(setting, key).value;
  require(value.is_number() && std::isfinite(value.get<double>()),
          "{} must be a finite number, got {}",
          where(key),
          shown(value));
  resolved_[key] = value.get<double>();
  return value.get<double>();
}

double Section::fraction(const std::string& key,
                         std::optional<double> fallback,
                         std::string_view meaning) const {
  const double value = number(key, fallback);
  require(value > 0 && value <= 1,
          "{} must lie in (0, 1], got {}{}{}",
          where(key),
          value,
          meaning.empty() ? "" : ": ",
          meaning);
  return value;
}

std::int64_t Section::integer(const std::string& key, std::optional<std::int64_t> fallback) const {
  const Setting* setting = find(key);
  if (setting == nullptr && fallback) {
    resolved_[key] = *fallback;
    return *fallback;
  }
  const auto& value = require_present(setting, key).value;
  require(value.is_number_integer() &&
              (!value.is_number_unsigned() ||
               value.get<std::uint64_t>() <=
                   static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())),
          "{} must be a whole number, got {}",
          where(key),
          shown(value));
  resolved_[key] = value.get<std::int64_t>();
  return value.get<std::int64_t>();
}

bool Section::flag(const std::string& key, std::optional<bool> fallback) const {
  const Setting* setting = find(key);
  if (setting == nullptr && fallback) {
    resolved_[key] = *fallback;
    return *fallback;
  }
  const auto& value = require_present(setting, key).value;
  require(value.is_boolean(), "{} must be true or false, got {}", where(key), shown(value));
  resolved_[key] = value.get<bool>();
  return value.get<bool>();
}

std::string Section::text(const std::string& key,
                          const std::optional<std::string>& fallback) const {
  const Setting* setting = find(key);
  if (setting == nullptr && fallback) {
    resolved_[key] = *fallback;
    return *fallback;
  }
  const auto& value = require_present(setting, key).value;
  require(value.is_string(), "{} must be a text, got {}", where(key), shown(value));
  resolved_[key] = value.get<std::string>();
  return value.get<std::string>();
}

std::string Section::choice(const std::string& key,
                            const std::vector<std::string>& choices,
                            const std::optional<std::string>& fallback) const {
  std::string value = text(key, fallback);
  require(std::find(choices.begin(), choices.end(), value) != choices.end(),
          "unknown value '{}' of {}{}",
          value,
          where(key),
          suggestion(value, choices));
  return value;
}

nlohmann::json Section::any(const std::string& key, const nlohmann::json& fallback) const {
  const Setting* setting = find(key);
  if (setting == nullptr && !fallback.is_null()) {
    resolved_[key] = fallback;
    return fallback;
  }
  const auto& value = require_present(setting, key).value;
  resolved_[key] = value;
  return value;
}

void Section::adopt(const nlohmann::json& resolved) const {
  for (const auto& [key, value] : resolved.items()) {
    find(key);
    resolved_[key] = value;
  }
}

nlohmann::json Section::given() const {
  auto values = nlohmann::json::object();
  for (const auto& [key, setting] : settings_) {
    values[key] = setting.value;
  }
  return values;
}

void Section::finish() const { finish(known_); }

void Section::finish(const std::vector<std::string>& known) const {
  for (const auto& [key, setting] : settings_) {
    if (std::find(known.begin(), known.end(), key) != known.end()) {
      continue;
    }
    const std::string best = nearest(key, known);
    const auto kind = settings_.find("kind");
    require(!best.empty() || kind == settings_.end() || !kind->second.value.is_string(),
            "{} is not read here, with kind {}; keys that are: {}",
            where(key),
            shown(kind == settings_.end() ? nlohmann::json() : kind->second.value),
            fmt::join(known, ", "));
    const std::string cure = best.empty() ? fmt::format("; known: {}", fmt::join(known, ", "))
                                          : fmt::format("; did you mean '{}.{}'?", name_, best);
    throw Error(ExitCode::usage, fmt::format("unknown key {}{}", where(key), cure));
  }
}

}  // namespace residuum
