#pragma once
// Warm-up of the density: the first stages of a training keep more entries. Keys of the sparsifier:
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

/// A sparsifier for the iterations before `until`: a warm-up of the density.
struct DensityStage {
  std::uint64_t until = 0;
  std::shared_ptr<const Sparsifier> sparsifier;
};

struct ScheduleContext {
  std::span<const Segment> layers;
  std::size_t dimension = 0;
  std::uint64_t iterations = 0;  // of the training
  double samples = 0;            // of the data set; 0: there is none to pass over
  double samples_per_iteration = 1;
};

/// The section, with the density that a preset ends with where it names neither this nor k
/// nor a threshold.
Section with_final_density(const Section& section);

/// The stages that the section asks for: none without a schedule, nor for a sparsifier that keeps
/// no fixed number of entries (thresholds). `final_one` is what the section itself describes. A
/// usage error if the stages outlast the training, or keep fewer entries than what follows them.
std::vector<DensityStage> read_density_stages(const Section& section,
                                              const Sparsifier& final_one,
                                              const ScheduleContext& context);

}  // namespace residuum
