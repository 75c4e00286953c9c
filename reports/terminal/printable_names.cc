#include "reports/terminal/printable_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/text.h"
#include "reports/terminal/table.h"

namespace residuum::reports {
namespace {

using Names = std::vector<std::string>;

/// Returns the places at which the characters of a text begin, and its end.
std::vector<std::size_t> character_places(std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) {
      places.push_back(i);
    }
  }
  places.push_back(text.size());
  return places;
}

/// Returns the first `head` and the last `tail` characters of a longer name.
std::string cut_between(const std::string& name, std::size_t head, std::size_t tail) {
  std::string text = harmless(name);
  const auto places = character_places(text);
  const std::size_t count = places.size() - 1;
  if (count <= head + tail) {
    return text;
  }
  return text.substr(0, places[head]) + "…" + text.substr(places[count - tail]);
}

bool all_differ(const Names& names) {
  return std::set<std::string>(names.begin(), names.end()).size() == names.size();
}

/// Cuts names that begin alike so that they differ: in the middle if that will do, else wherever it
/// does.
Names cut_apart(const Names& names) {
  constexpr std::size_t kKept = kLongestName - 1;
  Names cut(names.size());
  for (std::size_t i = 0; i <= kKept; ++i) {
    const std::size_t head = (kKept / 2 + i) % (kKept + 1);
    std::transform(names.begin(), names.end(), cut.begin(), [&](const std::string& name) {
      return cut_between(name, head, kKept - head);
    });
    if (all_differ(cut)) {
      return cut;
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string number = fmt::format(" [{}]", i + 1);
    cut[i] = cut_between(names[i], kKept - number.size(), 0) + number;
  }
  return cut;
}

}  // namespace

std::map<std::string, std::string> printable_names(const Names& names) {
  std::map<std::string, Names> alike;
  for (const auto& name : std::set<std::string>(names.begin(), names.end())) {
    alike[printable(name)].push_back(name);
  }
  std::map<std::string, std::string> shown;
  for (const auto& [text, of] : alike) {
    const Names cut = of.size() == 1 ? Names{text} : cut_apart(of);
    for (std::size_t i = 0; i < of.size(); ++i) {
      shown[of[i]] = cut[i];
    }
  }
  return shown;
}

std::map<std::string, std::string> printable_labels(const Summary& summary) {
  Names labels;
  for (const auto& group : summary.groups) {
    labels.push_back(group.group.label);
  }
  return printable_names(labels);
}

}  // namespace residuum::reports
