#pragma once
// One section of a study, as a component sees it: [sparsifier], [step], ... A component reads the
// keys it knows, with their defaults; `finish` then rejects every key that nobody read, so that a
// misspelt one cannot pass unnoticed. What was read, defaults included, is the resolved section: it
// is what a run's identity is made of.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace residuum {

/// A value with the place it was written at ("s.toml:14:3"), for messages.
struct Setting {
  nlohmann::json value;
  std::string place;
};

class Section {
 public:
  Section() = default;
  Section(std::string name, std::map<std::string, Setting> settings);

  /// For tests and programs: Section("sparsifier", {{"kind", "top-k"}, {"k", 3}}).
  Section(std::string name, const nlohmann::json& values);

  const std::string& name() const { return name_; }
  bool has(const std::string& key) const;

  /// The value, or the fallback; without a fallback a missing key is a usage error. A value of
  /// another type is a usage error that names place, key and the type that is wanted.
  double number(const std::string& key, std::optional<double> fallback = std::nullopt) const;
  std::int64_t integer(const std::string& key,
                       std::optional<std::int64_t> fallback = std::nullopt) const;
  bool flag(const std::string& key, std::optional<bool> fallback = std::nullopt) const;
  std::string text(const std::string& key,
                   const std::optional<std::string>& fallback = std::nullopt) const;
  /// A number that turns something on: at `off` and where it is missing it leaves no trace in the
  /// resolved section, so that what is off is the run it would be without.
  double switch_on(const std::string& key, double off) const;
  /// The key is one of this section's, also where what it is about is off: it is then not read.
  void knows(const std::string& key) const { find(key); }
  /// A text that must be one of `choices`; an unknown one is answered with the nearest.
  std::string choice(const std::string& key,
                     const std::vector<std::string>& choices,
                     const std::optional<std::string>& fallback = std::nullopt) const;
  /// Any JSON value, for keys that take a number or a word or a table; null without a fallback.
  nlohmann::json any(const std::string& key, const nlohmann::json& fallback = nullptr) const;

  /// "'sparsifier.k' at s.toml:14:3", for messages about a value.
  std::string where(const std::string& key) const;

  /// The section with one more key, unread.
  Section with(const std::string& key, const nlohmann::json& value) const;

  /// Rejects keys that were not read.
  void finish() const;
  /// Rejects keys that are not among `known`.
  void finish(const std::vector<std::string>& known) const;

  /// The keys asked for so far, whether or not the section has them.
  const std::vector<std::string>& known() const { return known_; }

  /// The keys read so far with the values they had.
  const nlohmann::json& resolved() const { return resolved_; }
  /// Takes over what an equal section was resolved to, as if its keys had been read here.
  void adopt(const nlohmann::json& resolved) const;
  /// The values as they were written.
  nlohmann::json given() const;

 private:
  const Setting* find(const std::string& key) const;
  const Setting& require_present(const Setting* setting, const std::string& key) const;

  std::string name_;
  std::map<std::string, Setting> settings_;
  mutable nlohmann::json resolved_ = nlohmann::json::object();
  mutable std::vector<std::string> known_;
};

}  // namespace residuum
