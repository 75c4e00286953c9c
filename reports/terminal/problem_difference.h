#pragma once

#include <string>

#include "reports/tables/result_folder.h"

namespace residuum::reports {

/// Says in what the functions that two runs minimise differ, with both values; empty where they do
/// not. A key that only one of them has was added by a later program.
std::string problem_difference(const Run& a, const Run& b);

}  // namespace residuum::reports
