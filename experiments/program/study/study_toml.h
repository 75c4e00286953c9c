#pragma once
// These functions turn TOML into settings with their places.

#include <map>
#include <string>
#include <string_view>

#include "core/config/section.h"

#include <toml++/toml.h>

namespace residuum {

using Settings = std::map<std::string, Setting>;  // by dotted key

/// Parses the text. A text that is no TOML, or has keys of very many parts, is a usage error with
/// its place.
toml::table parse_toml(const std::string& text, const std::string& file);

/// "s.toml:14:3".
std::string place_of(const toml::source_region& source);

/// Returns a value and where its key was written. Dates and values nested too deep are usage
/// errors.
Setting setting_of(const toml::node& node, const toml::source_region& key);

/// Adds the table's settings. A section's own keys may hold tables ({ geometric = 1.05 }): only the
/// first dot separates.
void flatten(const toml::table& table, Settings& settings);

/// Throws a usage error unless the key begins with a section's name and a dot.
void check_known_section(const std::string& dotted, const std::string& place);

// A study may say what a paper has ([[expected]]), for the table of published values and ours. It
// changes no run.

/// Returns the list for study.resolved.json, each entry complete and checked; an empty list where
/// the study expects nothing. Errors are usage errors with their place.
nlohmann::json expected_values(const toml::table& root);

// A key of very many parts (a.b.c. ...) is refused. The parser of TOML calls itself for each part,
// and some ten thousand of them would exhaust the stack.

/// No setting has as many parts.
inline constexpr int kMostKeyParts = 16;

/// Throws a usage error that names file and line where a key of the TOML text has more parts.
/// Strings and comments are passed over; brackets are counted by the parser itself.
void refuse_long_keys(std::string_view text, const std::string& file);

}  // namespace residuum
