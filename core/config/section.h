#pragma once
// A Section is one section of a study ([sparsifier], [step], ...) as a component sees it. A
// component reads the keys it knows, with their defaults; `finish` then rejects every key that
// nobody read, so that a misspelt one cannot pass unnoticed. The values that were read, defaults
// included, are the resolved section; a run's id is computed from it.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace residuum {

/// A setting is a value with the place where it was written ("s.toml:14:3"), for messages.
struct Setting {
  nlohmann::json value;
  std::string place;
};

/// Returns the value for a message: as JSON, but with the infinities and NaN that JSON lacks.
std::string shown(const nlohmann::json& value);

class Section {
 public:
  Section() = default;

  /// Makes a section without a file, for tests and programs: Section("sparsifier", {{"kind",
  /// "top-k"}, {"k", 3}}).
  Section(std::string name, const nlohmann::json& values);

  /// Makes a section whose settings know where they were written. It is no constructor, because
  /// braces like those above would fit a map, too.
  static Section with_places(std::string name, std::map<std::string, Setting> settings);

  const std::string& name() const { return name_; }
  /// True if the section has the key. Who asks for a key accepts it: it need not be read.
  bool has(const std::string& key) const { return find(key) != nullptr; }

  /// Returns the value, or the fallback; without a fallback a missing key is a usage error. A value
  /// of another type is a usage error that names place, key and the type that is wanted.
  double number(const std::string& key, std::optional<double> fallback = std::nullopt) const;
  /// Reads a number in (0, 1]. `meaning` ends the message about another, as in "it is the factor of
  /// a residual".
  double fraction(const std::string& key,
                  std::optional<double> fallback,
                  std::string_view meaning = {}) const;
  std::int64_t integer(const std::string& key,
                       std::optional<std::int64_t> fallback = std::nullopt) const;
  bool flag(const std::string& key, std::optional<bool> fallback = std::nullopt) const;
  std::string text(const std::string& key,
                   const std::optional<std::string>& fallback = std::nullopt) const;
  /// Reads a text that must be one of `choices`; the message about an unknown one suggests the
  /// nearest.
  std::string choice(const std::string& key,
                     const std::vector<std::string>& choices,
                     const std::optional<std::string>& fallback = std::nullopt) const;
  /// Reads any JSON value, for keys that take a number, a word or a table; null if the key and a
  /// fallback are missing.
  nlohmann::json any(const std::string& key, const nlohmann::json& fallback = nullptr) const;

  class Reader;
  /// Returns what reads the keys of a feature, which may be off in this run.
  Reader if_used(bool used) const;

  /// Returns "'sparsifier.k' at s.toml:14:3", for messages about a value.
  std::string where(const std::string& key) const;

  /// Returns a copy with one more key, which counts as not yet read.
  Section with(const std::string& key, const nlohmann::json& value) const;

  /// Rejects keys that were not read.
  void finish() const;
  /// Rejects keys that are not among `known`.
  void finish(const std::vector<std::string>& known) const;

  /// Returns the keys asked for so far, whether or not the section has them.
  const std::vector<std::string>& known() const { return known_; }

  /// Returns the keys read so far with the values they had.
  const nlohmann::json& resolved() const { return resolved_; }
  /// Copies the resolved values of an equal section, as if its keys had been read here.
  void adopt(const nlohmann::json& resolved) const;
  /// Returns the values as they were written.
  nlohmann::json given() const;

 private:
  const Setting* find(const std::string& key) const;
  const Setting& require_present(const Setting* setting, const std::string& key) const;

  std::string name_;
  std::map<std::string, Setting> settings_;
  mutable nlohmann::json resolved_ = nlohmann::json::object();
  mutable std::vector<std::string> known_;
};

/// A Reader reads keys of a feature. If the feature is off, it returns nothing: a study may give
/// the keys without effect, since other runs of it may use them, and they are not resolved.
class Section::Reader {
 public:
  Reader(const Section& section, bool used) : section_(section), used_(used) {}

  std::optional<double> number(const std::string& key,
                               std::optional<double> fallback = std::nullopt) const {
    return read(key, [&] { return section_.number(key, fallback); });
  }
  std::optional<std::string> choice(const std::string& key,
                                    const std::vector<std::string>& choices,
                                    const std::optional<std::string>& fallback) const {
    return read(key, [&] { return section_.choice(key, choices, fallback); });
  }
  std::optional<nlohmann::json> any(const std::string& key,
                                    const nlohmann::json& fallback = nullptr) const {
    return read(key, [&] { return section_.any(key, fallback); });
  }

 private:
  template <class Read>
  auto read(const std::string& key, const Read& read) const -> std::optional<decltype(read())> {
    section_.find(key);
    return used_ ? std::optional(read()) : std::nullopt;
  }

  const Section& section_;
  bool used_;
};

inline Section::Reader Section::if_used(bool used) const { return {*this, used}; }

}  // namespace residuum
