#include "assumptions/details/magnitude_details.h"

#include <fmt/format.h>

#include "core/measurement/magnitudes.h"

namespace residuum {

static_assert(kLeastMagnitudeRow == kLeastExponent && kLastMagnitudeRow == kMostExponent);

void write_magnitude_details(const StepView& view, Recorder& recorder) {
  for (std::size_t bin = 0; bin < view.magnitudes.size(); ++bin) {
    if (view.magnitudes[bin] > 0) {
      DetailRow row(kMagnitudesTable,
                    view.iteration,
                    fmt::format("{}", kLeastExponent + static_cast<int>(bin)));
      row.set(MagnitudeColumn::share, view.magnitudes[bin]);
      recorder.write_detail(row);
    }
  }
}

}  // namespace residuum
