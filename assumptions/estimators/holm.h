#pragma once
// Holm's procedure (Scandinavian Journal of Statistics 1979) corrects many tests at once: the
// chance that any true hypothesis of the family is rejected stays at most `level`, however the
// tests depend on one another.

#include <span>
#include <vector>

namespace residuum {

/// Tells for each p-value whether its hypothesis is rejected. In rising order hypotheses are
/// rejected as long as the i-th p-value of m (counted from 0) is at most level/(m - i). A p-value
/// that is no number is never rejected, and counts in the family. O(m log m).
std::vector<bool> holm_rejects(std::span<const double> p_values, double level);

}  // namespace residuum
