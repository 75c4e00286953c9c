#pragma once
// A warm-up of the density keeps more entries in the first stages of a training. Keys of the
// sparsifier:
//   schedule: "none", "dgc", "gtopk", "gtopk-code", or a list of densities, one per stage;
//   schedule_epochs or schedule_iterations: the length of a stage, one epoch if neither is given.
// After the stages the sparsifier's own density or k holds, 0.001 after a preset without one.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/config/section.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// A stage is the sparsifier for the iterations before `until`.
struct DensityStage {
  std::uint64_t until = 0;
  std::shared_ptr<const Sparsifier> sparsifier;
};

struct ScheduleContext {
  std::span<const Segment> layers;
  std::size_t dimension = 0;
  std::uint64_t iterations = 0;      // T of the training
  double samples = 0;                // n of the data set; 0 without a data set
  double samples_per_iteration = 1;  // 0 where it varies
};

/// Returns the section; one that names neither density nor k nor a threshold gets the density that
/// its preset ends with.
Section with_final_density(const Section& section);

/// Returns the stages that the section asks for: none without a schedule, nor for a sparsifier that
/// keeps no fixed number of entries (thresholds). `final_one` is the sparsifier that the section
/// itself describes. Stages that outlast the training, or keep fewer entries than the next one, are
/// a usage error.
std::vector<DensityStage> read_density_stages(const Section& section,
                                              const Sparsifier& final_one,
                                              const ScheduleContext& context);

}  // namespace residuum
