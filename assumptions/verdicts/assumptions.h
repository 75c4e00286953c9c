#pragma once
// Each analytic assumption of the convergence papers is measured as a ratio that must not exceed
// one, and is judged twice where the papers assume it of every iteration:
//   on average            the ratio pooled over a run, its mean over the seeds with Student's
//                         interval: holds if the interval ends at or below one, fails if it begins
//                         above, marginal if one lies in it. With one seed there is no interval,
//                         and nothing is decided unless nothing in the run is random. A row counts
//                         for the iterations until the next; where rows are missing, the interval
//                         is widened by what they may hide, and what is then open is undecided.
//                         The pool weighs iterations by energy, so that the beginning of a run may
//                         outweigh its end: what holds over the run is marginal where the ratio of
//                         one of its quarters lies above one (95 % in all four, Bonferroni).
//   in every iteration    fails if a single measured iteration is above one, in any seed; holds if
//                         every iteration was measured and none is; undecided otherwise.
// `independence` is a ratio of expectation one and `unbiased-gradients` a number of expectation
// zero: they hold if the interval contains it. `bounded-moment` and `bounded-noise` compare the
// last quarter of a run with the largest before: *grew* if the interval begins above 1, *no growth*
// if it ends at or below kGrowth, undecided otherwise. A quantity that the sparsifier's law gives
// exactly is not tested. A seed that was not measured decides nothing. Nothing holds if a run
// diverged, failed or was cut.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/theorems/evidence.h"

namespace residuum {

enum class AssumptionState { holds, marginal, fails, undecided, not_measured };

/// "holds", "marginal", "fails", "undecided", "not measured".
std::string_view state_text(AssumptionState state);

/// An EveryVerdict says what single iterations say, over all seeds.
struct EveryVerdict {
  AssumptionState state = AssumptionState::not_measured;
  std::uint64_t violations = 0;
  bool counts_all = true;  // false: there may be more violations
  std::uint64_t measured = 0;
  std::uint64_t iterations = 0;
  /// The share of the iterations that violates, a row standing for those until the next; where it
  /// is not known which rows do, the share of the measured ones.
  double share = 0;
  std::string_view open_key;    // of the study: its value 1 may decide; empty where none would
  std::optional<double> worst;  // the largest ratio
  std::size_t worst_seed = 0;
  std::uint64_t worst_iteration = 0;
  std::string remark;
};

/// Of the four quarters of the runs, that with the largest mean ratio over the seeds.
struct LargestQuarter {
  std::size_t quarter = 0;  // 1 to 4
  double value = 0;
  std::optional<Interval> interval;  // of that mean, 95 % in all four quarters together
};

/// The assumption of gTop-k's proof, which reports show by itself.
inline constexpr std::string_view kDeltaAssumption = "delta";

struct AssumptionVerdict {
  std::string_view name;
  std::string_view statement;  // what is assumed, and the ratio that is formed of it
  std::string_view paper;
  std::string_view limit;  // of the ratio: "≤ 1", "< 1", or what it is expected to be, "= 1", "= 0"

  // The verdict on average follows. For `smoothness`, which is about single quotients alone, it is
  // about each seed's largest quotient.
  AssumptionState state = AssumptionState::not_measured;
  std::optional<double> value;                    // mean over the seeds of the ratio
  std::optional<Interval> interval;               // of that mean, 95 %, Student's t
  double sampling_error = 0;                      // half a width more, for iterations without a row
  std::optional<LargestQuarter> largest_quarter;  // absent where the ratio is not pooled
  std::optional<double> p_value;                  // chance of a mean as far on the wrong side
  std::optional<double> worst;                    // of the seeds' ratios
  std::size_t worst_seed = 0;                     // which
  std::size_t seeds = 0;
  std::vector<double> of_seeds;  // their ratios
  std::uint64_t rows = 0;        // that entered, of all seeds
  std::uint64_t iterations = 0;  // that the seeds had
  std::string remark;            // why nothing could be said, or why there is no interval
  std::string_view open_key;     // of the study: what may decide, "seeds" or a cadence of 1
  bool is_average = true;        // false: about single iterations only

  std::optional<EveryVerdict> every;  // absent where the papers assume nothing of single iterations

  /// True where the test is only whether the ratio grew; the verdict is then worded so.
  bool tests_growth = false;
};

/// All assumptions, in a fixed order, judged for the runs of one method.
std::vector<AssumptionVerdict> judge_assumptions(const Evidence& evidence);

/// Returns Q(q_p) eta^2 G^2, which the workers' residuals, mean |e^p|^2, do not exceed in
/// expectation if in every iteration they contract by q_p and mean E|G^p|^2 <= G^2; both as
/// measured, eta = 1 where residuals are in units of gradients. Absent for other updates of the
/// memory than e + eta G, and where there is no contraction or nothing is held back.
std::optional<double> worker_residual_bound(const Evidence& evidence);

/// Corrects the verdicts of one study for their number (Holm): a mean that is above its limit by
/// itself, but not among so many tests, is marginal, and its remark says so. Chance makes any
/// verdict of the study fail in at most 5 % of studies in which everything holds.
void control_false_alarms(std::span<AssumptionVerdict* const> verdicts);

}  // namespace residuum
