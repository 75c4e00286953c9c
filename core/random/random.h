#pragma once
// Random streams are counter-based: Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011; Random123).
// A number is a pure function of (seed, purpose, worker, iteration, position), so it does not
// depend on the number of processes, on the order of calls, or on what else a run measures.

#include <array>
#include <cstdint>
#include <span>

namespace residuum {

/// The purpose of a random number is part of its key, so that a new consumer never shifts another's
/// numbers.
enum class Purpose : std::uint32_t {
  batch = 1,
  sparsifier = 2,
  noise = 3,
  partition = 4,
  synthetic = 5,
  initial_point = 6,
  probe = 7,
  shuffle = 8,
  test = 9,
  half_noise = 10,
  augmentation = 11,
  evaluation = 12,
  falsify = 20,
  simulated_time = 21,
  graph = 22,
  quantiser = 23,
  low_rank = 24,
  bootstrap = 25,
  participation = 26,
  sketch = 27,
  ring = 28,
  rotation = 29,
};

class RandomStream {
 public:
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t worker, std::uint32_t iteration);

  std::uint32_t bits();
  std::uint64_t bits64();
  void fill(std::span<std::uint32_t> words);  ///< As many calls of bits(), several times faster.
  double uniform();                           ///< In [0, 1), 53 bits.
  std::uint32_t below(std::uint32_t bound);   ///< Uniform on {0, ..., bound-1}; bound >= 1.
  double normal();                            ///< N(0, 1), Box-Muller.
  double exponential();                       ///< Mean 1.
  double gamma(double shape);                 ///< Shape > 0, scale 1 (Marsaglia and Tsang 2000).

 private:
  void refill();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace residuum
