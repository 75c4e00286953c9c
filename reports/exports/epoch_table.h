#pragma once
// The table by epoch has loss, delta, contraction and accuracy of every run by epoch, one row for
// each run and epoch.
//
// An epoch e holds the iterations from e to e + 1 passes over the data, or is one of equal parts of
// a run's iterations. delta and contraction are means over the measured iterations of the epoch,
// delta_max is the largest of its deltas and delta_above_1 how many of them exceed 1. loss, test
// accuracy and test perplexity are the last ones measured in it, empty where none was. A number
// that is not finite is no measurement.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "reports/results/csv.h"
#include "reports/results/run_list.h"

namespace residuum::reports {

inline constexpr std::int64_t kQuarters = 4;

/// The runs and their iterations of which a table by epoch is made.
struct EpochRequest {
  std::filesystem::path iterations;   // iterations.csv
  std::vector<ListedRun> runs;        // of the table
  bool leave_out_others = false;      // iterations of other runs; else they are a usage error
  std::optional<std::int64_t> parts;  // of a run, from 1 on; else its epochs are passes
  bool with_labels = false;           // a first column has what the study calls the method
};

/// Makes the table, whose rows are in the order of iterations.csv. Iterations that do not rise are
/// a usage error that names file and line.
TextTable epoch_table(const EpochRequest& request);

/// Makes the table of a folder of results, with a first column `label` where the study names its
/// methods. A folder that `residuum keep` made has not every
/// iteration: it gives the table that was kept by pass, or by quarter for 4 parts, and other parts
/// are a usage error.
TextTable epoch_table_of(const std::filesystem::path& folder, std::optional<std::int64_t> parts);

}  // namespace residuum::reports
