#include "assumptions/falsify/starts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace residuum {
namespace {

double random_sign(RandomStream& random) { return random.uniform() < 0.5 ? -1 : 1; }

/// Independent normal entries resemble training where noise dominates.
void draw_gaussian(RandomStream& random, Accumulators& accumulators) {
  for (double& value : accumulators.values) {
    value = random.normal();
  }
}

/// Entries are cubes of normal numbers, so that few carry nearly all energy.
void draw_heavy_tailed(RandomStream& random, Accumulators& accumulators) {
  for (double& value : accumulators.values) {
    const double x = random.normal();
    value = x * x * x;
  }
}

/// Entries are small whole numbers, mostly zero: workers agree on an index or have it alone, and
/// sums cancel exactly.
void draw_sparse(RandomStream& random, Accumulators& accumulators) {
  constexpr std::uint32_t kLargest = 3;
  const double zeros = random.uniform();
  for (double& value : accumulators.values) {
    const double magnitude = 1 + random.below(kLargest);
    const double sign = random_sign(random);
    value = random.uniform() < zeros ? 0 : sign * magnitude;
  }
}

/// Pairs of workers nearly cancel, and entries are nearly equal in magnitude, so that what is left
/// decides what is selected.
void draw_cancelling(RandomStream& random, Accumulators& accumulators) {
  constexpr double kDecades = 5;
  const double noise = std::pow(10, -kDecades * random.uniform());
  const std::size_t d = accumulators.dimension;
  std::vector<double> pattern(d);
  for (std::size_t worker = 0; worker < accumulators.workers; ++worker) {
    const bool opens_a_pair = worker % 2 == 0;
    const bool is_alone = opens_a_pair && worker + 1 == accumulators.workers;
    for (double& value : pattern) {
      value = is_alone ? 0 : (opens_a_pair ? random_sign(random) : -value);
    }
    for (std::size_t i = 0; i < d; ++i) {
      accumulators.at(worker, i) = pattern[i] + noise * random.normal();
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
