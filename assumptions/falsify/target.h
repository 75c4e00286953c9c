#pragma once
// A target is what the search for counterexamples tries to break: an assumption that a proof makes
// of one aggregation step, as a number that the assumption bounds.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/record/record.h"

namespace residuum {

struct Target {
  std::string_view name;
  std::string_view assumption;  // in words, with its bound
  std::string_view probe;       // that measures it
  Column column;                // where the number stands
  double bound = 0;
  bool bound_is_allowed = true;  // the assumption is number <= bound, otherwise number < bound

  /// True if `value` is above the bound by more than sums of `dimension` terms can be off.
  bool is_violated_by(double value, std::size_t dimension) const;
};

/// The targets are delta, conservation and contraction.
std::span<const Target> targets();

/// A name that is none of them is a usage error with the nearest.
const Target& target_named(const std::string& name);

}  // namespace residuum
