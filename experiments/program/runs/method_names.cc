#include "experiments/program/runs/method_name.h"

#include "reports/analysis/groups.h"
#include "reports/tables/result_folder.h"
#include "reports/terminal/table.h"

namespace residuum {

std::string method_name(const Study& study, const RunSpec& spec, const PreparedRun& run) {
  reports::Run named;
  named.id = run.id;
  named.label = spec.label;
  named.varying = reports::Json(run.varying);
  named.config = reports::Json{{"config", reports::Json(run.config)}};
  for (const auto& [key, value] : named.varying.items()) {
    const auto of_key = study.labels.find(key);
    if (of_key != study.labels.end() && of_key->contains(reports::plain_text(value))) {
      named.value_labels[key] = (*of_key)[reports::plain_text(value)].get<std::string>();
    }
  }
  return reports::printable(reports::method_label(named));
}

}  // namespace residuum
