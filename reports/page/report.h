#pragma once
// report.html is one file that says what a study found. It can be read in any browser, without
// scripts, without the network, on paper too; a browser that runs scripts lets the reader choose
// axes, methods and runs.

#include <filesystem>
#include <string>
#include <vector>

#include "reports/analysis/statistics.h"
#include "reports/latex/write_tables.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {

struct Report {
  std::filesystem::path file;
  std::vector<std::string> problems;  // what could not be drawn or computed, and why; one line each
};

/// Draws figures/, writes tables/ and report.html of the study into its folder. The kind is that of
/// bands and tables over the seeds. Without gnuplot the report has no drawings and says so.
/// A choice of tables that cannot be met is a usage error, before anything is written.
Report write_report(const Summary& summary,
                    IntervalKind kind = IntervalKind::quartiles,
                    const TableChoice& choice = {});

}  // namespace residuum::reports
