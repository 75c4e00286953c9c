#pragma once
// A component is one file and one registry line: Entry{name, summary, source, example, make}.

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/section.h"

namespace residuum {

/// One way to build an `Interface`. The example is a complete section without `kind`, as JSON: it
/// is what the law tests build and what `residuum list` prints.
template <typename Interface>
struct Entry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  // the paper it comes from
  std::string_view example;
  std::unique_ptr<Interface> (*make)(const Section&);
};

template <typename Interface>
std::vector<std::string> names_of(std::span<const Entry<Interface>> entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) {
    names.emplace_back(entry.name);
  }
  return names;
}

/// Builds what the section's `kind` names. The caller finishes the section.
template <typename Interface>
std::unique_ptr<Interface> make_from(std::span<const Entry<Interface>> entries,
                                     const Section& section) {
  const std::string kind = section.choice("kind", names_of(entries));
  for (const auto& entry : entries) {
    if (entry.name == kind) {
      return entry.make(section);
    }
  }
  return nullptr;  // not reached: `choice` has thrown
}

/// The section an entry's example describes.
template <typename Interface>
Section example_section(const std::string& section_name, const Entry<Interface>& entry) {
  auto values = nlohmann::json::parse(entry.example);
  values["kind"] = std::string(entry.name);
  return {section_name, values};
}

}  // namespace residuum
