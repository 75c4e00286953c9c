#pragma once
// Data sets made from a seed, for studies that need no download and for tests that need a known
// truth. A sample depends on the seed, its part and its number alone: more rows leave the first
// ones as they are, and the held-out part shares the truth and no sample with the training part.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "objectives/data/dataset.h"

namespace residuum {

enum class Part : std::uint32_t { training = 1, held_out = 2 };

/// y = +1 with probability 1 / (1 + exp(-x.truth)), else -1. Entries of x are standard normal; the
/// truth is scaled so that x.truth has standard deviation `signal`.
struct LogisticModel {
  std::size_t rows = 0;
  std::size_t features = 0;
  std::uint64_t seed = 1;
  double noise = 0;          ///< Share of labels then flipped, in [0, 1/2].
  std::size_t nonzeros = 0;  ///< Entries per row, at places drawn uniformly; 0 means all.
  double signal = 3;
  Part part = Part::training;
};

struct LogisticData {
  SparseDataset data;
  std::vector<double> truth;
};

LogisticData make_logistic_data(const LogisticModel& model);

/// A teacher has one smooth picture per class. A sample is a mixture of its class's picture, weight
/// at least one half, and another's, moved by up to two pixels, with noise on every pixel. Classes
/// are balanced: sample i has label i mod classes.
struct TeacherModel {
  std::size_t rows = 0;
  std::size_t height = 28;
  std::size_t width = 28;
  int classes = 10;
  std::uint64_t seed = 1;
  Part part = Part::training;
};

ImageDataset make_teacher_images(const TeacherModel& model);

}  // namespace residuum
