#pragma once
// A warm bound says which entries a pass on the device should note for the selection after it. Cuts
// drift slowly and steadily: the last cut, multiplied by the drift and lowered by a slack that
// adapts to the number of notes, yields two or three times the entries that are wanted. The
// selection is exact for any bound; a bad one costs further passes.

#include <cstddef>
#include <cstdint>

namespace residuum::cuda {

class WarmBound {
 public:
  /// These are the bits of a magnitude that no number has: nothing is noted.
  static constexpr std::uint32_t kNothing = 0xFFFFFFFFU;

  /// Entries with magnitudes (as bits) of at least this are to be noted.
  std::uint32_t bits() const { return bits_; }

  /// Returns how many notes to make room for; with more, the selection reads the accumulator
  /// itself.
  static std::size_t capacity(std::size_t k, std::size_t d);

  /// True if the k first entries are among the `noted`, of which there was room for `capacity`.
  bool complete(std::size_t noted, std::size_t k, std::size_t capacity) const;

  /// Sets the bound for the next pass, after a step that noted `noted` entries and cut at the
  /// magnitude `cut` (its bits).
  void learn(std::size_t noted, std::size_t k, std::uint32_t cut);

 private:
  std::uint32_t bits_ = kNothing;
  float slack_ = 1.0F / 16;
  float last_cut_ = 0;
  float drift_ = 1;  // the factor from one cut to the next, smoothed
};

}  // namespace residuum::cuda
