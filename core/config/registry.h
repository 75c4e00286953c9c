#pragma once
// A component of this library is one file and one line in the registry.cc beside it: Entry{name,
// summary, source, example, make}. A component of another program is one file with a static
// Registered object in it:
//   const Registered<Sparsifier> kMine(
//       {"mine", "what it does", "where from", "{}", make_component<Sparsifier, Mine>});

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/section.h"

namespace residuum {

/// An entry is one way to build an `Interface`. The example is a complete section without `kind`,
/// as JSON; the law tests build it and `residuum list` prints it.
template <typename Interface>
struct Entry {
  std::string_view name;
  std::string_view summary;
  std::string_view source;  // the paper it comes from
  std::string_view example;
  std::unique_ptr<Interface> (*make)(const Section&);
  /// The key of the section that names code which is not the program's and which a run executes;
  /// empty: none. A study does so only where the user allows it.
  std::string_view foreign_code = {};
};

/// Serves as `make` of a component that is constructed from its section.
template <typename Interface, typename Component>
std::unique_ptr<Interface> make_component(const Section& section) {
  return std::make_unique<Component>(section);
}

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

/// The key by which a section names a component, and the value, its default, for which there is
/// none.
struct OptionalKind {
  const char* key;
  const char* none;
};

/// Builds what the section names; null for none. The caller finishes the section.
template <typename Interface>
std::unique_ptr<Interface> make_optional_from(std::span<const Entry<Interface>> entries,
                                              const OptionalKind& kind,
                                              const Section& section) {
  std::vector<std::string> names = names_of(entries);
  names.insert(names.begin(), kind.none);
  const std::string chosen = section.choice(kind.key, names, kind.none);
  for (const auto& entry : entries) {
    if (entry.name == chosen) {
      return entry.make(section);
    }
  }
  return nullptr;
}

/// Returns the section that an entry's example describes.
template <typename Interface>
Section example_section(const std::string& section_name, const Entry<Interface>& entry) {
  auto values = nlohmann::json::parse(entry.example);
  values["kind"] = std::string(entry.name);
  return {section_name, values};
}

/// Returns the entries that Registered objects have added.
template <typename Interface>
std::vector<Entry<Interface>>& registered_entries() {
  static std::vector<Entry<Interface>> entries;
  return entries;
}

/// Adds a component to those of the library. It must be a static object, because a registry is
/// complete from its first use (in main) on.
template <typename Interface>
struct Registered {
  explicit Registered(const Entry<Interface>& entry) {
    registered_entries<Interface>().push_back(entry);
  }
};

/// Returns the library's entries, then the added ones in the order of their names, so that the
/// order of linking does not matter. A name that occurs twice is a usage error.
template <typename Interface>
std::vector<Entry<Interface>> with_registered(std::span<const Entry<Interface>> built_in) {
  auto registered = registered_entries<Interface>();
  std::sort(registered.begin(), registered.end(), [](const auto& a, const auto& b) {
    return a.name < b.name;
  });
  std::vector<Entry<Interface>> all(built_in.begin(), built_in.end());
  for (const auto& entry : registered) {
    const bool is_new = std::none_of(
        all.begin(), all.end(), [&](const auto& known) { return known.name == entry.name; });
    require(is_new, "two components are registered as '{}'; rename one", entry.name);
    all.push_back(entry);
  }
  return all;
}

/// Returns the one list of all entries of a kind; `built_in` must be the same at every call.
template <typename Interface>
std::span<const Entry<Interface>> registry_of(std::span<const Entry<Interface>> built_in) {
  static const auto all = with_registered(built_in);
  return all;
}

}  // namespace residuum
