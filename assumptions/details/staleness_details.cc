#include "assumptions/details/staleness_details.h"

#include <fmt/format.h>

namespace residuum {

void write_staleness_details(const StepView& view, Recorder& recorder) {
  if (!view.notes) {
    return;
  }
  const auto counts = view.notes->staleness_counts;
  for (std::size_t staleness = 0; staleness < counts.size(); ++staleness) {
    if (counts[staleness] > 0) {
      DetailRow row(kStalenessTable, view.iteration, fmt::format("{}", staleness));
      row.set(StalenessColumn::gradients, static_cast<double>(counts[staleness]));
      recorder.write_detail(row);
    }
  }
}

}  // namespace residuum
