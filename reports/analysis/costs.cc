#include "reports/analysis/costs.h"

#include "reports/analysis/fields.h"
#include "reports/analysis/samples.h"

namespace residuum::reports {

Costs costs_of(const Run& run, const Spent& bytes, const Spent& time) {
  const auto iterations = number_at(run.status, "iterations");
  Costs costs{iterations, std::nullopt, std::nullopt, std::nullopt};
  // The last iteration of a run that a budget of gradients or time has ended may have no row.
  const auto in_all = [&](const Spent& spent, const char* total) {
    const bool has_last_row = iterations && static_cast<double>(spent.iterations) == *iterations;
    return has_last_row              ? spent.after
           : run.state == "finished" ? number_at(run.status, total)
                                     : std::nullopt;
  };
  costs[kCostBytes] = in_all(bytes, "totals.sent_bytes");
  costs[kCostTime] = in_all(time, "totals.virtual_s");
  const auto samples = samples_of_iteration(run);
  if (iterations && samples) {
    costs[kCostSamples] = *samples * *iterations;
  }
  return costs;
}

void read_evaluations(const Run& run,
                      Column quantity,
                      const std::function<void(const Costs& spent, double value)>& take) {
  Spent bytes = kSentBytes;
  Spent time = kVirtualTime;
  const auto samples = samples_of_iteration(run);
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
    bytes.add(record);
    time.add(record);
    if (const auto value = record.get(quantity)) {
      const auto t = static_cast<double>(record.iteration());
      const auto seen = samples ? std::optional(*samples * t) : std::nullopt;
      take({t, bytes.before, time.before, seen}, *value);
    }
  });
  if (const auto value = number_at(run.status, final_path(quantity))) {
    take(costs_of(run, bytes, time), *value);
  }
}

}  // namespace residuum::reports
