#pragma once
// The options of `residuum report` and of `residuum-report`, which are the same.

#include <string>
#include <string_view>

#include "experiments/program/console/options.h"
#include "reports/analysis/statistics.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11 calls itself so
class App;
}

namespace residuum {

void add_report(CLI::App& command, Options& options);

/// Returns the kind of --interval iqr, student or bootstrap: what the middle of the seeds is, and
/// what stands beside it. Another name is a usage error.
reports::IntervalKind interval_kind(const std::string& name);

/// Reads "2MB", the value of an option, and returns bytes.
double byte_amount(const std::string& text, std::string_view option);

}  // namespace residuum
