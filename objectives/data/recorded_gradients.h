#pragma once
// Gradients that somebody recorded: step t, worker w, entry i. They are read from the file one
// gradient at a time, so that a recording may be larger than the memory; a file that another
// process cuts off while it is read gives a message, and not the signal that a mapping of it would.
// So does a file that was replaced; only one whose numbers are written over in place is not noticed
// here, and a second look at all of them tells its fingerprint.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/objective.h"

namespace residuum {

struct RecordedShape {
  std::size_t steps = 0;      // T
  std::size_t workers = 0;    // P
  std::size_t dimension = 0;  // d
};

class RecordedGradients {
 public:
  RecordedGradients() = default;
  RecordedGradients(const RecordedGradients&) = delete;
  RecordedGradients& operator=(const RecordedGradients&) = delete;
  RecordedGradients(RecordedGradients&&) = delete;
  RecordedGradients& operator=(RecordedGradients&&) = delete;
  virtual ~RecordedGradients() = default;

  virtual RecordedShape shape() const = 0;
  /// Returns the arrays of which a gradient is made; empty where they have no names.
  virtual std::vector<Layer> layers() const { return {}; }
  /// Tells recordings apart; empty where the study itself says which numbers they are.
  virtual std::string fingerprint() const = 0;
  /// gradient := that of the worker at the step, which must exist; safe to call at once by threads.
  virtual void read(std::size_t step, std::size_t worker, std::span<float> gradient) const = 0;
  virtual void read(std::size_t step, std::size_t worker, std::span<double> gradient) const = 0;
};

/// Opens an .npy file of shape (T, P, d), or a folder of T .npy files of shape (P, d), in the order
/// of the last number in each name; files whose names begin with a dot, such as those that macOS
/// leaves beside others, are not looked at. In place of a .npy file there may be a .npz, whose
/// arrays of shape (T, P, ...) or (P, ...) are the layers; each is unpacked in memory when it is
/// read. Their numbers are float16, float32 or float64, little-endian, in C or Fortran order;
/// Fortran order takes longer to read. All numbers are looked at: one that is not finite is a usage
/// error that names step, worker and index, and so is any other file.
std::unique_ptr<RecordedGradients> open_recorded_gradients(const std::filesystem::path& path);

/// Makes a recording of independent N(0, 1) numbers that depend on the seed alone.
std::unique_ptr<RecordedGradients> draw_recorded_gradients(const RecordedShape& shape,
                                                           std::uint64_t seed);

}  // namespace residuum
