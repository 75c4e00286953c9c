#pragma once
// What a pass on the device should note for the selection after it. Cuts drift slowly and steadily:
// the last one, moved on by the drift and lowered by a slack that follows what the passes have
// found, yields two or three times the entries that are wanted. Whatever it yields, the selection
// stays exact; a bad bound costs further passes.

#include <cstddef>
#include <cstdint>

namespace residuum::cuda {

class WarmBound {
 public:
  /// The bits of a magnitude that no number has: note nothing.
  static constexpr std::uint32_t kNothing = 0xFFFFFFFFU;

  /// Entries with magnitudes (as bits) of at least that are to be noted.
  std::uint32_t bits() const { return bits_; }

  /// Room for that many is enough, or the selection takes the long way.
  static std::size_t capacity(std::size_t k, std::size_t d);

  /// True if the k first entries are among the `noted`, of which there was room for `capacity`.
  bool complete(std::size_t noted, std::size_t k, std::size_t capacity) const;

  /// After a step that noted that many entries and cut at this magnitude (its bits): what the next
  /// pass should look for.
  void learn(std::size_t noted, std::size_t k, std::uint32_t cut);

 private:
  std::uint32_t bits_ = kNothing;
  float slack_ = 1.0F / 16;
  float last_cut_ = 0;
  float drift_ = 1;  // the factor from one cut to the next, smoothed
};

}  // namespace residuum::cuda
