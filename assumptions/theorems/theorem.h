#pragma once
// A convergence theorem is an object that takes the known facts of a method and the measurements of
// its runs. It tells whether its preconditions were met, the values of its two sides and of the
// terms of the right one. It also names the constants that it used and those that were missing.
// Each theorem or close family has a file and a registry line.
//
// Theorems bound expectations. The left side is therefore the mean over the seeds, and the verdict
// goes by Student's interval over the seeds of lhs - rhs: holds if it ends at or below zero, fails
// if it begins above zero, marginal otherwise. A single seed has no interval and decides nothing
// (`undecided`), unless nothing in the run is random. If a run diverged, failed or was cut, nothing
// holds: it is undecided, too.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "core/schedules/tight_rate.h"

namespace residuum {

class Evidence;
struct RunFacts;

/// A constant of a theorem: its value and where that comes from ("exact: ...", "measured: ..."), or
/// no value and why.
struct Constant {
  std::string symbol;
  std::optional<double> value;
  std::string origin;
};

/// The cause of a part of the right side.
enum class Attribution { optimisation, noise, residual, leak, heterogeneity, compression };
std::string_view attribution_text(Attribution attribution);

struct BoundTerm {
  Attribution attribution = Attribution::optimisation;
  std::string formula;
  double value = 0;
  bool fast = false;  // of faster decay than the leading terms when the step size is tuned to T
};

/// No violation seen: the measurements do not contradict the precondition, and do not prove it
/// either.
enum class PreconditionState { met, no_violation_seen, not_met };
/// "met", "no violation seen", "not met".
std::string_view precondition_text(PreconditionState state);

struct Precondition {
  std::string statement;
  PreconditionState state = PreconditionState::not_met;
  std::string detail;
};

enum class BoundVerdict { holds, marginal, fails, undecided, not_applicable, not_measured };
/// "holds", "marginal", "fails", "undecided", "not applicable", "not measured".
std::string_view verdict_text(BoundVerdict verdict);

/// Both sides over the first `iterations` iterations.
struct BoundPoint {
  double iterations = 0;
  double lhs = 0;
  double rhs = 0;
};

/// Linear rates, as factors of one iteration, where a theorem bounds one. They part the slack in
/// two factors, both in iterations to an accuracy.
struct RateSlack {
  double bound = 1;                // of the theorem, at the run's step
  std::optional<double> tight;     // rho*, the smallest that any theorem can have (tight_rate.h)
  std::optional<double> measured;  // of what the theorem bounds, from the start to the last row

  /// The share that the proof gives away: iterations by the bound over those at the tight rate.
  std::optional<double> of_proof() const;
  /// By how much this problem is better than the worst: iterations at the tight rate over those
  /// measured.
  std::optional<double> of_problem() const;
};

/// A Bound is a theorem evaluated on the runs of one method.
struct Bound {
  BoundVerdict verdict = BoundVerdict::not_measured;
  std::string reason;         // why there is no verdict; empty where there is one
  std::string_view open_key;  // of the study: what may decide it, "seeds" or a cadence of 1
  std::string left;           // what the left side is
  /// The statements of all preconditions. `preconditions` leaves out those that need no mention and
  /// those of which a constant is missing.
  std::vector<std::string> asks;
  std::vector<Precondition> preconditions;
  std::vector<Constant> constants;  // those without value are the missing ones
  std::size_t seeds = 0;

  // These are absent unless both sides could be formed; they are at the longest horizon that all
  // seeds share.
  std::optional<double> iterations;  // T
  std::optional<double> lhs;
  std::optional<double> rhs;
  std::optional<double> slack;     // rhs / lhs
  std::optional<Interval> excess;  // of lhs - rhs over the seeds
  std::optional<double> p_value;   // chance of such an excess if its mean is not above zero
  std::string remarks;             // on sampling, intervals, seeds that ended early
  std::vector<BoundTerm> terms;    // of rhs, mean over the seeds
  std::optional<double> horizon;   // T* >= 1, from where the leading terms outweigh the fast ones
  std::vector<BoundPoint> curve;
  std::optional<RateSlack> rates;  // absent where the bound is not a linear rate

  bool has_verdict() const { return verdict < BoundVerdict::not_applicable; }
};

/// A factor by which a quantity falls in one iteration at a step.
struct ContractionRate {
  double step = 0;
  double rate = 1;
  std::string_view of = {};  // what falls: "V", "f − f*"
};

struct Theorem {
  std::string_view name;
  std::string_view statement;  // in one line
  std::string_view paper;
  Bound (*evaluate)(const Evidence& evidence);
  /// The linear rate at these constants, at the given step or at the best that the theorem allows;
  /// absent where the theorem says nothing of the step. Null where the rate is not linear.
  std::optional<ContractionRate> (*linear_rate)(const CompressedProblem& problem,
                                                std::optional<double> step) = nullptr;
};

/// Corrects the verdicts of one study for their number (Holm): a left side that is larger than its
/// bound by itself, but not among so many tests, is marginal, and the remarks say so.
void control_false_alarms(std::span<Bound* const> bounds);

std::span<const Theorem> theorems();

/// The theorem of that name; nullptr where there is none.
const Theorem* find_theorem(std::string_view name);

/// Returns the preconditions that are not met.
std::vector<Precondition> unmet_of(const Bound& bound);

/// Returns the preconditions that a method with these facts fails at any constant step, whatever
/// its runs measure.
std::vector<Precondition> unmet_preconditions(const Theorem& theorem, const RunFacts& facts);

/// The demands of a theorem on any method: statements of its preconditions, symbols of its
/// constants.
struct Demands {
  std::vector<std::string> preconditions;
  std::vector<std::string> constants;
};
Demands demands_of(const Theorem& theorem);

}  // namespace residuum
