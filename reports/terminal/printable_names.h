#pragma once
// Names of methods are cut to a column of a terminal, and names that differ stay different.

#include <map>
#include <string>
#include <vector>

#include "reports/verdicts/summary.h"

namespace residuum::reports {

/// Returns each name fit for a terminal. Those that are longer than a column are cut in their
/// middle, or, where this does not tell them apart, elsewhere, or numbered.
std::map<std::string, std::string> printable_names(const std::vector<std::string>& names);

/// Returns the printable labels of all methods of a study.
std::map<std::string, std::string> printable_labels(const Summary& summary);

}  // namespace residuum::reports
