#pragma once
// The IDX format of MNIST (LeCun, Cortes and Burges) has big-endian counts, then bytes, row by row.

#include <filesystem>

#include "objectives/data/dataset.h"

namespace residuum {

/// Reads a file of images (unsigned bytes, three dimensions) and its file of labels 0..9; plain,
/// .gz or .xz. A wrong magic number, missing or extra bytes, counts that differ between the files
/// and labels above 9 are usage errors that name the file and the place.
ImageDataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

}  // namespace residuum
