#pragma once
// Iterations of two methods are compared fairly only where both take the same number of samples:
// eight workers see eight times what one does, and so do eight local steps.

#include <optional>
#include <string>

#include "reports/analysis/fields.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

/// Returns how many samples of gradients an iteration of the run takes, over all workers that take
/// part. Absent where versions take more or fewer.
std::optional<double> samples_of_iteration(const Run& run);

/// Says that iterations of the field's finished runs take different numbers of samples, and which;
/// empty where they take the same.
std::string unequal_iterations(const ResultFolder& folder, const Field& field);

/// Returns whether the finished runs of the field took about as many samples each, from their start
/// to their end: no more than a twentieth apart.
bool took_equal_samples(const ResultFolder& folder, const Field& field);

}  // namespace residuum::reports
