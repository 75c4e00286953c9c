#include "core/training/batches.h"

#include <utility>

#include "core/random/random.h"

namespace residuum {

Batches::Batches(std::uint64_t seed,
                 int worker,
                 std::span<const std::uint32_t> shard,
                 std::size_t batch,
                 Sampling sampling)
    : seed_(seed),
      worker_(static_cast<std::uint32_t>(worker)),
      shard_(shard),
      sampling_(sampling),
      full_(batch == 0 || shard.empty()),
      batch_(full_ ? 0 : batch) {}

std::span<const std::uint32_t> Batches::draw(std::uint64_t iteration) {
  if (full_) {
    return shard_;
  }
  if (sampling_ == Sampling::replacement) {
    draw_with_replacement(iteration);
  } else {
    draw_shuffled(iteration);
  }
  return batch_;
}

void Batches::draw_with_replacement(std::uint64_t iteration) {
  RandomStream random(seed_, Purpose::batch, worker_, static_cast<std::uint32_t>(iteration));
  for (auto& sample : batch_) {
    sample = shard_[random.below(static_cast<std::uint32_t>(shard_.size()))];
  }
}

void Batches::draw_shuffled(std::uint64_t iteration) {
  std::uint64_t position = iteration * batch_.size();
  for (auto& sample : batch_) {
    shuffle(position / shard_.size());
    sample = permutation_[position % shard_.size()];
    ++position;
  }
}

void Batches::shuffle(std::uint64_t pass) {
  if (pass == permuted_pass_) {
    return;
  }
  permuted_pass_ = pass;
  permutation_.assign(shard_.begin(), shard_.end());
  RandomStream random(seed_, Purpose::shuffle, worker_, static_cast<std::uint32_t>(pass));
  for (std::size_t i = permutation_.size(); i > 1; --i) {
    std::swap(permutation_[i - 1], permutation_[random.below(static_cast<std::uint32_t>(i))]);
  }
}

}  // namespace residuum
