#pragma once
// The IDX format of MNIST (LeCun, Cortes and Burges) has big-endian counts, then bytes, row by row.

#include <filesystem>
#include <span>

#include "objectives/data/dataset.h"

namespace residuum {

/// Reads a file of images (unsigned bytes, three dimensions) and its file of labels 0..9; plain,
/// .gz or .xz. A wrong magic number, missing or extra bytes, counts that differ between the files
/// and labels above 9 are usage errors that name the file and the place.
ImageDataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

// The "binary version" of CIFAR-10 (Krizhevsky 2009) has records of 3073 bytes: a label, then 32x32
// pixels of red, of green and of blue, row by row.

/// Reads the records of one or more files, one after another; plain, .gz or .xz. A file that is not
/// whole records and labels above 9 are usage errors that name the file and the place.
ImageDataset read_cifar10(std::span<const std::filesystem::path> files);

}  // namespace residuum
