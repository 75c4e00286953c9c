#include "assumptions/falsify/target.h"

#include <algorithm>
#include <array>
#include <limits>

#include "core/error.h"

namespace residuum {
namespace {

// The lost mass is that of accumulators whose squares add up to P. The contraction from e = 0 is
// |e_1|^2 / |mean a|^2 with e = w - z: where nothing is lost it is delta (1 - rho), but the proofs
// need it below one only, and lost mass counts.
constexpr auto kTargets = std::to_array<Target>({
    {.name = "delta",
     .assumption = "delta <= 1: no worse than k random entries of the dense sum",
     .probe = "delta",
     .column = Column::delta,
     .bound = 1},
    {.name = "conservation",
     .assumption = "lost_mass_norm_sq = 0: what is not applied is put back",
     .probe = "conservation",
     .column = Column::lost_mass_norm_sq,
     .bound = 0},
    {.name = "contraction",
     .assumption = "contraction < 1: the gap w - z shrinks",
     .probe = "contraction",
     .column = Column::contraction,
     .bound = 1,
     .bound_is_allowed = false},
});

}  // namespace

bool Target::is_violated_by(double value, std::size_t dimension) const {
  if (!bound_is_allowed) {
    return value >= bound;
  }
  constexpr double kPerTerm = 4 * std::numeric_limits<double>::epsilon();
  return value > bound * (1 + kPerTerm * static_cast<double>(dimension));
}

std::span<const Target> targets() { return kTargets; }

const Target& target_named(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& target : targets()) {
    if (target.name == name) {
      return target;
    }
    known.emplace_back(target.name);
  }
  usage_error("nothing called '{}' can be searched against{}", name, suggestion(name, known));
}

}  // namespace residuum
