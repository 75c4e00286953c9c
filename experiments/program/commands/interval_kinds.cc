#include "experiments/program/commands/interval_kinds.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"

namespace residuum {
namespace {

constexpr std::array<std::pair<std::string_view, reports::IntervalKind>, 3> kIntervals{
    {{"iqr", reports::IntervalKind::quartiles},
     {"student", reports::IntervalKind::student},
     {"bootstrap", reports::IntervalKind::bootstrap}}};

}  // namespace

reports::IntervalKind interval_kind(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& one : kIntervals) {
    if (one.first == name) {
      return one.second;
    }
    known.emplace_back(one.first);
  }
  usage_error("--interval {}: unknown{}", name, suggestion(name, known));
}

}  // namespace residuum
