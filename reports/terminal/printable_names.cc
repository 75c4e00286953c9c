#include "reports/terminal/printable_names.h"

#include <fmt/format.h>

#include <set>

#include "core/text.h"
#include "reports/analysis/short_labels.h"
#include "reports/terminal/table.h"

namespace residuum::reports {
namespace {

using Names = std::vector<std::string>;

}  // namespace

std::map<std::string, std::string> printable_names(const Names& names) {
  const std::set<std::string> different(names.begin(), names.end());
  std::map<std::string, std::size_t> count;
  Names texts;
  for (const auto& name : different) {
    const std::string text = harmless(name);
    const std::size_t number = ++count[text];
    texts.push_back(number == 1 ? text : fmt::format("{} [{}]", text, number));
  }
  const Names cut = cut_apart(texts, kLongestName);
  std::map<std::string, std::string> shown;
  auto text = cut.begin();
  for (const auto& name : different) {
    shown[name] = *text++;
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
