#pragma once
// Tests of the page use this to see whether its tags nest.

#include <fmt/format.h>

#include <string>
#include <vector>

namespace residuum::reports::testing {

struct Tag {
  std::string name;
  bool is_closing = false;
  bool is_complete = false;  // <a/>, or an element that has no end
};

/// All tags in their order; an attribute must not hold a '>'.
inline std::vector<Tag> tags_of(const std::string& html) {
  std::vector<Tag> tags;
  for (std::size_t at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
    const std::size_t end = html.find('>', at);
    std::string inside = html.substr(at + 1, end - at - 1);
    Tag tag;
    tag.is_closing = inside.starts_with('/');
    tag.is_complete = inside.ends_with('/') || inside.starts_with('!');
    inside.erase(0, tag.is_closing ? 1 : 0);
    tag.name = inside.substr(0, inside.find_first_of(" \t\n/"));
    tag.is_complete = tag.is_complete || tag.name == "meta";
    tags.push_back(tag);
  }
  return tags;
}

/// The first place where tags do not nest, or nothing.
inline std::string imbalance(const std::string& html) {
  std::vector<std::string> open;
  for (const auto& tag : tags_of(html)) {
    if (tag.is_closing && (open.empty() || open.back() != tag.name)) {
      return fmt::format("</{}> closes {}", tag.name, open.empty() ? "nothing" : open.back());
    }
    if (tag.is_closing) {
      open.pop_back();
    } else if (!tag.is_complete && tag.name != "wbr") {
      open.push_back(tag.name);
    }
  }
  return open.empty() ? "" : open.back() + " is not closed";
}

}  // namespace residuum::reports::testing
