#pragma once
// The "binary version" of CIFAR-10 (Krizhevsky 2009) has records of 3073 bytes: a label, then 32x32
// pixels of red, of green and of blue, row by row.

#include <filesystem>
#include <span>

#include "objectives/data/dataset.h"

namespace residuum {

/// Reads the records of one or more files, one after another; plain, .gz or .xz. A file that is not
/// whole records and labels above 9 are usage errors that name the file and the place.
ImageDataset read_cifar10(std::span<const std::filesystem::path> files);

}  // namespace residuum
