#pragma once
// From TOML to settings with their places.

#include <map>
#include <string>

#include "core/config/section.h"

#include <toml++/toml.h>

namespace residuum {

using Settings = std::map<std::string, Setting>;  // by dotted key

/// Usage error with its place for what is no TOML, or has keys of very many parts.
toml::table parse_toml(const std::string& text, const std::string& file);

/// "s.toml:14:3".
std::string place_of(const toml::source_region& source);

/// A value and where its key was written. Usage error for dates and for values nested too deep.
Setting setting_of(const toml::node& node, const toml::source_region& key);

/// Adds the table's settings. A section's own keys may hold tables ({ geometric = 1.05 }): only the
/// first dot separates.
void flatten(const toml::table& table, Settings& settings);

/// Usage error unless the key begins with a section's name and a dot.
void check_known_section(const std::string& dotted, const std::string& place);

}  // namespace residuum
