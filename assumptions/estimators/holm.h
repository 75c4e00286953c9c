#pragma once
// Many tests at once (Holm, Scandinavian Journal of Statistics 1979): the chance that any true
// hypothesis of the family is rejected stays at most `level`, however the tests depend on one
// another.

#include <span>
#include <vector>

namespace residuum {

/// For each p-value whether its hypothesis is rejected: in rising order, as long as the i-th of m
/// (counted from 0) is at most level/(m - i). A p-value that is no number is never rejected, and
/// counts in the family. O(m log m).
std::vector<bool> holm_rejects(std::span<const double> p_values, double level);

}  // namespace residuum
