#include "assumptions/falsify/starts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace residuum {
namespace {

/// Independent normal entries: training where noise dominates.
void draw_gaussian(RandomStream& random, Accumulators& accumulators) {
  for (double& value : accumulators.values) {
    value = random.normal();
  }
}

/// Cubes of normal numbers: few entries carry nearly all energy.
void draw_heavy_tailed(RandomStream& random, Accumulators& accumulators) {
  for (double& value : accumulators.values) {
    const double x = random.normal();
    value = x * x * x;
  }
}

/// Small whole numbers, mostly zero: workers agree on an index or have it alone, and sums cancel
/// exactly.
void draw_sparse(RandomStream& random, Accumulators& accumulators) {
  constexpr std::uint32_t kLargest = 3;
  const double zeros = random.uniform();
  for (double& value : accumulators.values) {
    const double magnitude = 1 + random.below(kLargest);
    const double sign = random.uniform() < 0.5 ? -1 : 1;
    value = random.uniform() < zeros ? 0 : sign * magnitude;
  }
}

/// Pairs of workers that nearly cancel, with entries nearly equal in magnitude: what is selected is
/// decided by what is left.
void draw_cancelling(RandomStream& random, Accumulators& accumulators) {
  constexpr double kDecades = 5;
  const double noise = std::pow(10, -kDecades * random.uniform());
  const std::size_t d = accumulators.dimension;
  std::vector<double> signs(d);
  for (std::size_t worker = 0; worker < accumulators.workers; ++worker) {
    const bool opens_a_pair = worker % 2 == 0;
    const bool is_alone = opens_a_pair && worker + 1 == accumulators.workers;
    for (std::size_t i = 0; i < d; ++i) {
      if (opens_a_pair) {
        signs[i] = random.uniform() < 0.5 ? -1 : 1;
      }
      const double magnitude = is_alone ? 0 : signs[i] * (opens_a_pair ? 1 : -1);
      accumulators.at(worker, i) = magnitude + noise * random.normal();
    }
  }
}

constexpr auto kLaws = std::to_array<StartLaw>({{"gaussian", draw_gaussian},
                                                {"cancelling", draw_cancelling},
                                                {"heavy-tailed", draw_heavy_tailed},
                                                {"sparse", draw_sparse}});

}  // namespace

std::span<const StartLaw> start_laws() { return kLaws; }

}  // namespace residuum
