#pragma once
// A user brings P vectors of d numbers as a .csv of P rows without header, or as a .npy array of
// shape (P, d), float32 or float64.

#include <filesystem>
#include <span>
#include <vector>

namespace residuum {

/// Reads rows of equal length, at least one of at least one number, all finite. Everything else is
/// a usage error that names file and place.
std::vector<std::vector<double>> read_vectors(const std::filesystem::path& file);

/// Writes vectors of `dimension` numbers, one after the other, as a float64 .npy of shape (P, d)
/// that `read_vectors` reads back to the last bit. The file appears whole or not at all.
void write_vectors(const std::filesystem::path& file,
                   std::span<const double> vectors,
                   std::size_t dimension);

}  // namespace residuum
