#pragma once
// The samples that a worker draws at an iteration are a pure function of (seed, worker, iteration).

#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

/// With "replacement" draws from the shard are independent and uniform, as the theory assumes. With
/// "shuffle" each pass takes a fresh permutation of the shard, as training code does.
enum class Sampling { replacement, shuffle };

class Batches {
 public:
  /// A batch of 0 means the whole shard at every iteration.
  Batches(std::uint64_t seed,
          int worker,
          std::span<const std::uint32_t> shard,
          std::size_t batch,
          Sampling sampling);

  /// Returns the samples; the span is valid until the next call.
  std::span<const std::uint32_t> draw(std::uint64_t iteration);

 private:
  void draw_with_replacement(std::uint64_t iteration);
  void draw_shuffled(std::uint64_t iteration);
  void shuffle(std::uint64_t pass);

  std::uint64_t seed_;
  std::uint32_t worker_;
  std::span<const std::uint32_t> shard_;
  Sampling sampling_;
  bool full_;
  std::vector<std::uint32_t> batch_;
  std::vector<std::uint32_t> permutation_;
  std::uint64_t permuted_pass_ = ~std::uint64_t{0};
};

}  // namespace residuum
