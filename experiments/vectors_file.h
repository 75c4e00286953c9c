#pragma once
// P vectors of d numbers that a user brings: a .csv of P rows without header, or a .npy array of
// shape (P, d), float32 or float64.

#include <filesystem>
#include <vector>

namespace residuum {

/// Rows of equal length, at least one of at least one number, all finite. Everything else is a
/// usage error that names file and place.
std::vector<std::vector<double>> read_vectors(const std::filesystem::path& file);

}  // namespace residuum
