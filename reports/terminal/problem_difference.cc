#include "reports/terminal/problem_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace residuum::reports {
namespace {

// These keys say how the function is evaluated, or where its data lie, and not which one it is.
constexpr std::array<std::string_view, 6> kNoProblem{
    "data", "precision", "device", "start", "evaluate_samples", "evaluate_precision"};

}  // namespace

std::string problem_difference(const Run& a, const Run& b) {
  const auto differ = [](std::string_view name, const Json& before, const Json& after) {
    return before.is_null() || after.is_null() || before == after
               ? std::string()
               : fmt::format("{} is {} in the first and {} in the second",
                             name,
                             plain_text(before),
                             plain_text(after));
  };
  const Json& objective = value_at(b.config, "config.objective");
  for (const auto& [key, before] : value_at(a.config, "config.objective").items()) {
    auto found = differ("objective." + key, before, value_at(objective, key));
    const bool matters = std::find(kNoProblem.begin(), kNoProblem.end(), key) == kNoProblem.end();
    if (matters && !found.empty()) {
      return found;
    }
  }
  for (const auto& [path, name] : {std::pair("data.fingerprint", "the data's fingerprint"),
                                   std::pair("dimension", "the dimension")}) {
    auto found = differ(name, value_at(a.status, path), value_at(b.status, path));
    if (!found.empty()) {
      return found;
    }
  }
  return {};
}

}  // namespace residuum::reports
