#include "reports/analysis/fields.h"

#include <fmt/format.h>

#include <algorithm>

namespace residuum::reports {

std::string_view final_path(Column quantity) {
  if (quantity == Column::test_accuracy) {
    return "final.test_accuracy";
  }
  return quantity == Column::loss_gap ? "final.loss_gap" : "final.loss";
}

std::vector<Field> fields_of(const ResultFolder& folder, const std::vector<Group>& groups) {
  std::vector<Field> fields;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Json& config = folder.runs[groups[g].runs.front()].config;
    const nlohmann::json objective = value_at(config, "config.objective");
    const std::string key =
        objective.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    auto field = std::find_if(
        fields.begin(), fields.end(), [&](const Field& known) { return known.key == key; });
    if (field == fields.end()) {
      const std::string data = text_at(config, "config.objective.data");
      const std::string kind = text_at(config, "config.objective.kind");
      field = fields.insert(fields.end(),
                            {.objective = data.empty() ? kind : fmt::format("{}, {}", kind, data),
                             .key = key,
                             .groups = {},
                             .runs = {},
                             .diverged = {}});
    }
    field->groups.push_back(g);
    field->runs.emplace_back();
    field->diverged.emplace_back();
    for (const std::size_t i : groups[g].runs) {
      if (folder.runs[i].state == "finished") {
        field->runs.back().push_back(i);
      } else if (folder.runs[i].state == "diverged") {
        field->diverged.back().push_back(i);
      }
    }
  }
  return fields;
}

Column quantity_of(const ResultFolder& folder, const Field& field) {
  const bool all_know = std::all_of(field.runs.begin(), field.runs.end(), [&](const auto& runs) {
    return std::all_of(runs.begin(), runs.end(), [&](std::size_t i) {
      return number_at(folder.runs[i].status, final_path(Column::loss_gap)).has_value();
    });
  });
  return all_know ? Column::loss_gap : Column::loss;
}

}  // namespace residuum::reports
