#pragma once
// A KeptCell says how one cell of a page is computed from kept tables, and how it is written.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "reports/latex/kept_tables.h"

namespace residuum::reports {

/// The rule that makes one number of several rows of a run.
enum class Take {
  last,
  max,
  mean,
  rate,  // how much the column rises from the first row to the last, over the iterations between
};

/// The statistic that a cell shows of its runs. The first four are of the seeds, with one run each.
enum class CellStatistic {
  mean,     // with Student's 95 % interval
  median,   // over the seeds
  p_value,  // of a difference: two-sided, by Student
  needed,   // about how many seeds would decide the difference (seeds_for_sign)
  average,  // of all runs
  max,      // of all runs
  min,      // of all runs
  sum,      // of all runs
  count,    // how many runs there are
  same,     // the one number that all runs have
  text,     // the one text that all rows have
  share,    // the sum of the column over that of `over`, in percent
};

struct KeptCell {
  std::optional<std::string> written;  // a text that is not computed
  std::string place;                   // for messages
  std::string folder;                  // where the tables are
  std::string table = "runs.csv";
  std::string column;
  RunKeys where;                 // the rows: the texts of columns and varied keys; "*" is any
  std::optional<RunKeys> minus;  // the runs of the same seeds that are subtracted, as changes of
                                 // `where`
  Take take = Take::last;
  CellStatistic statistic = CellStatistic::mean;
  std::string over;              // of `share`
  std::optional<Budget> budget;  // the column is that of iterations.csv where it is spent
  std::string low;               // of `same`: columns that have the ends of an interval
  std::string high;
  std::optional<std::pair<std::string, double>> until;  // the first row of a run counts in which
                                                        // this column is at most this number
  int digits = 3;                   // behind the point; negative: six significant ones
  double scale = 1;                 // by which the number is multiplied
  std::string unit;                 // written behind the number
  bool has_interval = true;         // of a mean
  bool is_signed = false;           // a difference is always
  int tests = 0;                    // above 0: a difference that is significant among so many tests
                                    // (Bonferroni) has an asterisk
  std::optional<bool> is_rejected;  // a family's decision on the asterisk, in place of `tests`
  std::string missing;              // written where rows have no number; empty: that is an error
};

/// The folders that cells read, each once.
using KeptFolders = std::map<std::string, KeptFolder>;

/// Returns the cell as a page writes it: "+0.0125 [0.0069, 0.0181] *". No row, no number, or two
/// runs of one seed are usage errors that begin with the cell's place.
std::string kept_cell(const KeptCell& cell, KeptFolders& folders);

/// Returns the chance of a difference as large as the cell's or larger, of either sign, where there
/// is none (Student, paired by seed). Not a number for a cell without `minus`, and for one seed.
double p_value_of(const KeptCell& cell, KeptFolders& folders);

}  // namespace residuum::reports
