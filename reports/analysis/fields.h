#pragma once
// A field is the methods that have worked on one objective and can be compared.

#include <string>
#include <string_view>
#include <vector>

#include "core/record/columns.h"
#include "reports/analysis/groups.h"

namespace residuum::reports {

struct Field {
  std::string objective;  // for people
  std::string key;        // the objective's section
  std::vector<std::size_t> groups;
  std::vector<std::vector<std::size_t>> runs;      // the finished ones of each group
  std::vector<std::vector<std::size_t>> diverged;  // those of each group that are misses
};

std::vector<Field> fields_of(const ResultFolder& folder, const std::vector<Group>& groups);

/// Returns loss_gap where every run of the field knows it at its end, else loss.
Column quantity_of(const ResultFolder& folder, const Field& field);

/// Returns the path in status.json of what such a quantity is at the end of a run.
std::string_view final_path(Column quantity);

}  // namespace residuum::reports
