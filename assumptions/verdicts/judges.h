#pragma once
// The list of judges says which assumptions there are and how each is measured: by the ratios of
// the seeds on average, and by those of single iterations. assumptions.cc makes verdicts of them. A
// new assumption is a function or two in judges.cc and a line of its table.

#include <span>
#include <string_view>

#include "assumptions/theorems/evidence.h"
#include "assumptions/verdicts/ratios.h"

namespace residuum {

/// The mean of the ratios is held against this limit; with `single_quotients` the largest ratio of
/// each seed is. `no_growth`: the ratio is one if nothing grew; its interval lies above one, or
/// below kGrowth, or nothing is decided.
enum class Limit { at_most_one, below_one, around_one, around_zero, single_quotients, no_growth };

/// What is called no growth is less than this factor.
inline constexpr double kGrowth = 1.1;

struct Judge {
  std::string_view name;
  std::string_view statement;
  std::string_view paper;
  std::string_view cadence;  // the key that says how often it is measured
  Limit limit;
  Ratios (*ratios)(const Evidence& evidence);
  SinglesOfSeeds (*singles)(const Evidence& evidence) = nullptr;
};

std::span<const Judge> assumption_judges();

}  // namespace residuum
