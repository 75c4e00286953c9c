#include "experiments/program/study/study_toml.h"

#include <algorithm>
#include <cstddef>

#include "core/error.h"
#include "experiments/program/study/study.h"

namespace residuum {

/// A node that stands in no file was given on the command line.
std::string place_of(const toml::source_region& source) {
  if (!source.path && source.begin.line == 0) {
    return "--set";
  }
  return fmt::format("{}:{}:{}",
                     source.path ? *source.path : std::string("study"),
                     source.begin.line,
                     source.begin.column);
}

namespace {

nlohmann::json to_json(const toml::node& node, int depth = 0) {
  require(depth <= kMostKeyParts,
          "more than {} nested values at {}",
          kMostKeyParts,
          place_of(node.source()));
  if (const auto* table = node.as_table()) {
    auto object = nlohmann::json::object();
    for (const auto& [key, value] : *table) {
      object[std::string(key.str())] = to_json(value, depth + 1);
    }
    return object;
  }
  if (const auto* array = node.as_array()) {
    auto list = nlohmann::json::array();
    for (const auto& value : *array) {
      list.push_back(to_json(value, depth + 1));
    }
    return list;
  }
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* integer = node.as_integer()) {
    return integer->get();
  }
  if (const auto* number = node.as_floating_point()) {
    return number->get();
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get();
  }
  usage_error("dates and times mean nothing here, at {}", place_of(node.source()));
}

}  // namespace

Setting setting_of(const toml::node& node, const toml::source_region& key) {
  return {.value = to_json(node), .place = place_of(key)};
}

void flatten(const toml::table& table, Settings& settings) {
  const auto add = [&](const std::string& name, const toml::node& node, const toml::key& key) {
    const bool is_new = settings.emplace(name, setting_of(node, key.source())).second;
    require(is_new, "'{}' at {} is given twice", name, place_of(key.source()));
  };
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const auto* section = node.as_table();
    const bool is_section = section != nullptr && name.find('.') == std::string::npos;
    if (!is_section) {
      add(name, node, key);
      continue;
    }
    for (const auto& [inner, value] : *section) {
      add(fmt::format("{}.{}", name, inner.str()), value, inner);
    }
  }
}

void check_known_section(const std::string& dotted, const std::string& place) {
  const auto dot = dotted.find('.');
  const std::string section = dotted.substr(0, dot);
  const auto& known = section_names();
  require(std::find(known.begin(), known.end(), section) != known.end(),
          "unknown key '{}' at {}{}",
          dotted,
          place,
          suggestion(section, known));
  require(dot != std::string::npos, "'{}' at {} must be a section of keys", dotted, place);
}

toml::table parse_toml(const std::string& text, const std::string& file) {
  refuse_long_keys(text, file);
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    constexpr std::string_view kPrefix = "Error while parsing ";
    std::string fault(error.description());
    if (fault.starts_with(kPrefix)) {
      fault = "cannot read the " + fault.substr(kPrefix.size());
    }
    usage_error("{} at {}", fault, place_of(error.source()));
  }
}

namespace {

class DotCounter {
 public:
  DotCounter(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void check() {
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '#') {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        count(c);
        ++position_;
      }
    }
  }

 private:
  void count(char c) {
    constexpr std::string_view kEndsOfKeys = "\n=,[]{}";
    line_ += c == '\n' ? 1 : 0;
    if (kEndsOfKeys.find(c) != std::string_view::npos) {
      dots_ = 0;
    }
    dots_ += c == '.' ? 1 : 0;
    require(
        dots_ < kMostKeyParts, "a key of more than {} parts at {}:{}", kMostKeyParts, file_, line_);
  }

  /// Skips a string; one that is never closed goes to the end, and the parser says so.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(position_).starts_with(three);
    const std::string_view end =
        is_long ? std::string_view(three) : std::string_view(three).substr(2);
    position_ += end.size();
    while (position_ < text_.size() && !text_.substr(position_).starts_with(end)) {
      if (text_[position_] == '\n' && !is_long) {
        return;
      }
      line_ += text_[position_] == '\n' ? 1 : 0;
      position_ += quote == '"' && text_[position_] == '\\' ? 2 : 1;
    }
    position_ = std::min(position_ + end.size(), text_.size());
    // Up to two quotes just before the end of a long string are its own: '''a''''.
    for (int own = 0; is_long && own < 2 && text_.substr(position_).starts_with(quote); ++own) {
      ++position_;
    }
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  int dots_ = 0;
};

}  // namespace

void refuse_long_keys(std::string_view text, const std::string& file) {
  DotCounter(text, file).check();
}

}  // namespace residuum
