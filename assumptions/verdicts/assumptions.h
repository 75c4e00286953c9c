#pragma once
// The analytic assumptions of the convergence papers, each as one measured ratio that must not
// exceed one, with its interval over the seeds: holds if the interval ends at or below one, fails
// if it begins above, marginal if one lies in it. With one seed there is no interval, and it
// decides nothing unless the assumption is about every single step (smoothness) or nothing in the
// run is random. `unbiased` is a ratio of expectation one: it fails if a 99.9 % interval excludes
// one. A seed that was not measured decides nothing.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/theorems/evidence.h"

namespace residuum {

enum class AssumptionState { holds, marginal, fails, undecided, not_measured };

/// "holds", "marginal", "fails", "undecided", "not measured".
std::string_view state_text(AssumptionState state);

struct AssumptionVerdict {
  std::string_view name;
  std::string_view statement;  // what is assumed, and the ratio that is formed of it
  std::string_view paper;
  AssumptionState state = AssumptionState::not_measured;
  std::optional<double> value;       // mean over the seeds of the ratio
  std::optional<Interval> interval;  // of that mean, 95 %, Student's t
  std::optional<double> worst;       // of the seeds' ratios
  std::size_t worst_seed = 0;        // which
  std::size_t seeds = 0;
  std::string remark;  // why nothing could be said, or why there is no interval
};

/// All assumptions, in a fixed order, judged for the runs of one method.
std::vector<AssumptionVerdict> judge_assumptions(const Evidence& evidence);

}  // namespace residuum
