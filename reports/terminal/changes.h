#pragma once
// This file compares two results of one study: which numbers changed, and whether by more than the
// seeds let expect. Runs are paired by what varies and by seed, so that what both share cancels in
// the differences.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/results/result_folder.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns in words in what the functions that two runs minimise differ, with both values; empty
/// where they do not. A key that only one of them has was added by a later program.
std::string problem_difference(const Run& a, const Run& b);

/// How a quantity of a method differs between two result folders, A and B.
enum class ChangeVerdict {
  same,             // every pair of runs has the same bits
  unjudged,         // it is told, and neither good nor bad: a wall time
  undecided,        // it differs, but with fewer than two pairs nothing says by how much to expect
  not_significant,  // the interval of the mean difference has 0
  tolerated,        // it has not, and lies within what is tolerated
  size_undecided,   // it has not, and has the end of what is tolerated in it
  changed,          // it differs by more than that, and neither direction is better
  better,
  worse,
};

std::string_view name_of(ChangeVerdict verdict);

struct Change {
  std::string method;
  std::string_view quantity;
  ChangeVerdict verdict = ChangeVerdict::same;
  std::size_t pairs = 0;
  std::optional<double> before;        // mean over the pairs in A
  std::optional<double> after;         // and in B
  std::optional<Interval> difference;  // of the mean of B - A
};

struct Changes {
  std::vector<Change> quantities;  // all that both folders have, in study order
  /// These are worse whatever the numbers say: runs that are gone or no longer end, invariants that
  /// no longer hold.
  std::vector<std::string> losses;
  /// Notes say what makes the comparison less than one of like with like.
  std::vector<std::string> notes;
  double confidence = 0;  // of each interval: 95 % for all of them together (Bonferroni)

  bool has_regression() const;
};

/// The treatment of two folders whose runs minimise different functions.
enum class OtherProblem { refused, noted };

/// `tolerance` says, relative to the mean in A, how much worse is still no regression; that of the
/// loss is relative to the loss gap where it is known, so that both have one verdict. Wall time is
/// told but never judged. Folders without a method in common are a usage error, and so are those
/// with another objective, other data or another dimension, unless they are to be noted. A folder
/// that mixes runs on different data is a usage error.
Changes compare_folders(const Summary& a,
                        const Summary& b,
                        double tolerance,
                        OtherProblem other = OtherProblem::refused);

Json to_json(const Changes& changes);

/// Returns a line for each quantity that is not the same, then the losses and notes.
std::string changes_table(const Changes& changes);

}  // namespace residuum::reports
