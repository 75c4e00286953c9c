#include "core/random/random.h"

#include <Random123/philox.h>
#include <cassert>
#include <cmath>
#include <numbers>

#include "core/random/philox_words.h"

namespace residuum {

RandomStream::RandomStream(std::uint64_t seed,
                           Purpose purpose,
                           std::uint32_t worker,
                           std::uint32_t iteration)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, iteration, worker, static_cast<std::uint32_t>(purpose)} {}

void RandomStream::refill() {
  const r123::Philox4x32 philox;
  const r123::Philox4x32::ctr_type counter{{counter_[0], counter_[1], counter_[2], counter_[3]}};
  const r123::Philox4x32::key_type key{{key_[0], key_[1]}};
  const auto block = philox(counter, key);
  block_ = {block[0], block[1], block[2], block[3]};
  ++counter_[0];
  used_ = 0;
}

std::uint32_t RandomStream::bits() {
  if (used_ == 4) {
    refill();
  }
  return block_[used_++];
}

void RandomStream::fill(std::span<std::uint32_t> words) {
  std::size_t done = 0;
  for (; done < words.size() && used_ < 4; ++done) {
    words[done] = bits();
  }
  const std::size_t blocks = (words.size() - done) / 4;
  philox_words(key_, counter_, blocks, words.data() + done);
  counter_[0] += static_cast<std::uint32_t>(blocks);
  for (done += 4 * blocks; done < words.size(); ++done) {
    words[done] = bits();
  }
}

std::uint64_t RandomStream::bits64() {
  const std::uint64_t high = bits();
  return high << 32 | bits();
}

double RandomStream::uniform() { return static_cast<double>(bits64() >> 11) * 0x1.0p-53; }

std::uint32_t RandomStream::below(std::uint32_t bound) {
  assert(bound >= 1);
  // The result is the high word of a product (Lemire 2019). A product with one of the few low words
  // that would favour some results is drawn again.
  const std::uint32_t rejected = (0U - bound) % bound;
  for (;;) {
    const std::uint64_t product = std::uint64_t{bits()} * bound;
    if (static_cast<std::uint32_t>(product) >= rejected) {
      return static_cast<std::uint32_t>(product >> 32);
    }
  }
}

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

double RandomStream::exponential() { return -std::log1p(-uniform()); }

double RandomStream::gamma(double shape) {
  assert(shape > 0);
  if (shape < 1) {
    const double boost = std::pow(1 - uniform(), 1 / shape);
    return gamma(shape + 1) * boost;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v > 0 && std::log1p(-uniform()) < 0.5 * x * x + d - d * v + d * std::log(v)) {
      return d * v;
    }
  }
}

}  // namespace residuum
