#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <concepts>
#include <limits>
#include <string>
#include <vector>

#include "core/text.h"

namespace residuum {

/// Returns the value that a text spells; CLI::ValidationError where it spells none.
template <class Value>
Value value_in(const char* option, const std::string& text) {
  if constexpr (std::same_as<Value, std::string>) {
    return text;
  } else {
    const auto number = parsed<Value>(text);
    if (!number) {
      constexpr Value kMost = std::numeric_limits<Value>::max();
      const auto kind = std::integral<Value>
                            ? fmt::format("whole number of at most {}", kMost)
                            : fmt::format("number of at most {:.3g}", static_cast<double>(kMost));
      throw CLI::ValidationError(option, fmt::format("'{}' is no {}", harmless(text), kind));
    }
    return *number;
  }
}

/// Adds an option that takes several values, parted by commas or each with the option's name. An
/// empty one, as in "a,,b", is refused: what a script left out would go unnoticed.
template <class Value>
void add_values(CLI::App& command, const char* name, std::vector<Value>& values, const char* text) {
  const auto take = [&values, name](const std::vector<std::string>& given) {
    values.clear();
    for (const auto& list : given) {
      for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        if (begin == end) {
          throw CLI::ValidationError(name, fmt::format("'{}' has an empty value", harmless(list)));
        }
        values.push_back(value_in<Value>(name, list.substr(begin, end - begin)));
        begin = end + 1;
      }
    }
  };
  command.add_option_function<std::vector<std::string>>(name, take, text)
      ->type_name(std::same_as<Value, std::string> ? "TEXT"
                  : std::integral<Value>           ? "INT"
                                                   : "FLOAT")
      ->expected(1)  // with each name
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

}  // namespace residuum
