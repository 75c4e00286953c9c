#pragma once
// Which samples a worker draws at an iteration: a pure function of (seed, worker, iteration).

#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

/// "replacement": independent uniform draws from the shard, what the theory assumes.
/// "shuffle": a fresh permutation of the shard per pass, what training code does.
enum class Sampling { replacement, shuffle };

class Batches {
 public:
  /// batch = 0: the whole shard at every iteration.
  Batches(std::uint64_t seed,
          int worker,
          std::span<const std::uint32_t> shard,
          std::size_t batch,
          Sampling sampling);

  /// Valid until the next call.
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
