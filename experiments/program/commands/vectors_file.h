#pragma once
// A user brings P vectors of d numbers as a .csv of P rows without header, parted by commas, as a
// .npy array of shape (P, d), float16, float32 or float64, as a .npz or .safetensors of such
// arrays, or as a folder with a file for each worker, .npy, .npz or .safetensors, in the order of
// the numbers in their names.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace residuum {

/// Reads rows of equal length, at least one of at least one number, all finite. Everything else is
/// a usage error that names file and place. A first row of "0", "1", ..., "d - 1" is refused too
/// where d is at least 2: it is the header that pandas writes. With a `step` the file is a .npy
/// array of shape (T, P, d), of which that step is read, from 0. With a `member` the file is a
/// .npz or .safetensors, of which that array is read; without it a worker's vector is its row of
/// every array there.
std::vector<std::vector<double>> read_vectors(
    const std::filesystem::path& file,
    std::optional<std::int64_t> step = std::nullopt,
    const std::optional<std::string>& member = std::nullopt);

/// Writes vectors of `dimension` numbers, one after the other, as a float64 .npy of shape (P, d)
/// that `read_vectors` reads back to the last bit. The file appears whole or not at all.
void write_vectors(const std::filesystem::path& file,
                   std::span<const double> vectors,
                   std::size_t dimension);

}  // namespace residuum
