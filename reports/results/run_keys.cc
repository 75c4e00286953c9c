#include "reports/results/run_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <sstream>
#include <string_view>

#include "reports/results/csv_reader.h"

namespace residuum::reports {
namespace {

constexpr std::string_view kColumnPrefix = "p_";

/// True for letters, digits, '_' and '.', at least one.
bool is_key(std::string_view text) {
  const auto is_of_key = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_of_key);
}

}  // namespace

RunKeys keys_in_row(std::span<const std::string> header, std::span<const std::string> fields) {
  assert(header.size() == fields.size());
  RunKeys keys;
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (header[i].starts_with(kColumnPrefix) && !fields[i].empty()) {
      keys[header[i].substr(kColumnPrefix.size())] = fields[i];
    }
  }
  return keys;
}

RunKeys keys_in_row(const CsvReader& runs) { return keys_in_row(runs.header(), runs.texts()); }

std::string method_name(const RunKeys& keys) {
  std::string name;
  for (const auto& [key, value] : keys) {
    name += fmt::format("{}{}={}", name.empty() ? "" : " ", key, value);
  }
  return name.empty() ? "all" : name;
}

RunKeys keys_in_name(const std::string& method) {
  RunKeys keys;
  std::string* value = nullptr;  // of the last key
  std::istringstream words(method);
  for (std::string word; std::getline(words, word, ' ');) {
    const auto equals = word.find('=');
    if (equals != std::string::npos && is_key(std::string_view(word).substr(0, equals))) {
      value = &keys[word.substr(0, equals)];
      *value = word.substr(equals + 1);
    } else if (value != nullptr) {
      *value += ' ' + word;
    }
  }
  return keys;
}

}  // namespace residuum::reports
