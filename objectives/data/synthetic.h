#pragma once
// These data sets are made from a seed, for studies without a download and for tests that need a
// known truth. A sample depends on the seed, its part and its number alone: more rows leave the
// first ones as they are, and the held-out part shares the truth and no sample with the training
// part.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "objectives/data/dataset.h"
#include "objectives/data/text.h"

namespace residuum {

enum class Part : std::uint32_t { training = 1, held_out = 2 };

/// In this model y = +1 with probability 1 / (1 + exp(-x.truth)), else -1. Entries of x are
/// standard normal; the truth is scaled so that x.truth has standard deviation `signal`.
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

/// In this model y = x.truth + noise, with standard normal entries of x and a truth of norm 1: a
/// target has standard deviation sqrt(1 + noise^2).
struct RegressionModel {
  std::size_t rows = 0;
  std::size_t features = 0;
  std::uint64_t seed = 1;
  double noise = 0.5;  ///< Its standard deviation.
  Part part = Part::training;
};

/// Returns rows with targets.
SparseDataset make_regression_data(const RegressionModel& model);

/// In this model sample i has class i mod classes, and x is normal around the centre of its class
/// with variance 1. Centres are normal with variance `apart`^2 / features in every coordinate.
struct ClassesModel {
  std::size_t rows = 0;
  std::size_t features = 0;
  int classes = 0;
  std::uint64_t seed = 1;
  double apart = 3;
  Part part = Part::training;
};

/// Returns rows with labels 0, 1, ...
SparseDataset make_class_data(const ClassesModel& model);

/// This model imitates gisette (Guyon et al., NIPS 2003: handwritten digits 4 and 9, features
/// scaled to [-1, 1]) in the quantities that matter to logistic regression. An entry is -1 but for
/// a share of ink, where it is -1 + 2 U^a, U uniform. Share, a and contrast are chosen so that 6000
/// x 5000 entries come near the numbers published for gisette: lambda_max(A^T A)/(4n) = 842.868,
/// mean of |x_i|^2/4 = 1163.345, and f* = 0.13795 with l2 = L/1e4. Every second feature has more or
/// less ink (by `contrast`) in samples of class +1 than of class -1; the others are distractors.
/// Classes alternate.
struct GisetteModel {
  std::size_t rows = 6000;
  std::size_t features = 5000;
  std::uint64_t seed = 1;
  double contrast = 0.24;  ///< In [0, 1].
  Part part = Part::training;
};

SparseDataset make_gisette_twin(const GisetteModel& model);

/// A teacher has one smooth picture per class and channel. A sample is a mixture of its class's
/// picture, weight at least one half, and another's, moved by up to two pixels, with noise on every
/// pixel. Classes are balanced: sample i has label i mod classes.
struct TeacherModel {
  std::size_t rows = 0;
  std::size_t channels = 1;
  std::size_t height = 28;
  std::size_t width = 28;
  int classes = 10;
  std::uint64_t seed = 1;
  Part part = Part::training;
};

ImageDataset make_teacher_images(const TeacherModel& model);

// This text is made from a seed. Its entropy is known, and no model's loss can be below it.

/// The text is a Markov chain on 16 letters: with probability `order` the next letter is the
/// successor in the alphabet ('a' after the last), else any of them, all alike. Every letter is
/// equally frequent.
struct MarkovModel {
  std::size_t characters = 0;
  std::uint64_t seed = 1;
  double order = 0.5;  ///< In [0, 1].
  Part part = Part::training;
};

std::string make_markov_text(const MarkovModel& model);

/// Returns the entropy per character of the chain, in nats: -s ln s - 15 u ln u with u = (1 -
/// order)/16, the probability of a letter that is no successor, and s = order + u.
double markov_entropy(double order);

}  // namespace residuum
