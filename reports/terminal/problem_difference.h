#pragma once

#include <string>

#include "reports/tables/result_folder.h"

namespace residuum::reports {

/// In what the functions differ that two runs minimise, with both values; empty where they do not.
/// A key that only one of them has is an addition of a later program.
std::string problem_difference(const Run& a, const Run& b);

}  // namespace residuum::reports
