#include "reports/page/report_assumptions.h"

#include <vector>

#include "reports/page/html.h"

namespace residuum::reports {

std::string assumptions_legend(const Summary& summary) {
  if (summary.groups.empty()) {
    return {};
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& one : summary.groups[0].assumptions) {
    rows.push_back({text_cell(one.verdict.name),
                    text_cell(one.verdict.limit),
                    text_cell(one.verdict.statement),
                    text_cell(one.verdict.paper)});
  }
  return table({text_cell("assumption"),
                text_cell("held against"),
                text_cell("statement and ratio"),
                text_cell("source")},
               rows);
}

}  // namespace residuum::reports
