// A stream takes single blocks from Random123. fill() computes blocks in the widest SIMD of the
// machine, where every lane has a block of its own; the words are those of Random123.

#include "core/random/random.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/elementary.h"

// SVE and RVV are disabled: their vectors have no size that is known when this is compiled.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/random/random.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                     // IWYU pragma: keep
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace residuum::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

/// One lane has no room for products of 64 bits: all blocks are left to Random123.
void blocks_of_words(const std::uint32_t* /*key*/,
                     const std::uint32_t* /*counter*/,
                     std::size_t /*vectors*/,
                     std::uint32_t* /*words*/) {}

std::size_t blocks_at_once() { return std::numeric_limits<std::size_t>::max(); }

#else

namespace hn = hwy::HWY_NAMESPACE;

using WordTag = hn::ScalableTag<std::uint32_t>;
using WideTag = hn::RepartitionToWide<WordTag>;
using Words = hn::Vec<WideTag>;

/// Every lane of 64 bits has a word of a block in its lower half. Its upper half is arbitrary:
/// products take the lower halves alone. The states, of different blocks, do not wait for each
/// other.
constexpr std::size_t kStates = 4;

// An implicit constructor lacks the instructions of this target, which those of Arm's vectors need.
struct PhiloxState {
  HWY_INLINE PhiloxState() {}  // NOLINT(modernize-use-equals-default)
  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters): the four words of a block
  HWY_INLINE PhiloxState(Words first, Words second, Words third, Words fourth)
      : word0(first), word1(second), word2(third), word3(fourth) {}

  Words word0, word1, word2, word3;
};

HWY_INLINE Words product(Words a, Words factor) {
  const WordTag d;
  return hn::MulEven(hn::BitCast(d, a), hn::BitCast(d, factor));
}

constexpr std::uint32_t kFirst = 0xD2511F53U;
constexpr std::uint32_t kSecond = 0xCD9E8D57U;

/// The keys of a round.
struct Keys {
  HWY_INLINE Keys() {}  // NOLINT(modernize-use-equals-default)
  HWY_INLINE Keys(Words of_word0, Words of_word2) : first(of_word0), second(of_word2) {}

  Words first, second;
};

HWY_INLINE void mix(PhiloxState& state, const Keys& keys) {
  const WideTag d;
  const Words first = product(state.word0, hn::Set(d, kFirst));
  const Words second = product(state.word2, hn::Set(d, kSecond));
  state = {hn::Xor(hn::Xor(hn::ShiftRight<32>(second), state.word1), keys.first),
           second,
           hn::Xor(hn::Xor(hn::ShiftRight<32>(first), state.word3), keys.second),
           first};
}

/// Returns lanes that hold two words each.
HWY_INLINE Words joined(Words low, Words high) {
  const WordTag d;
  return hn::BitCast(WideTag(),
                     hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(high)), hn::BitCast(d, low)));
}

std::size_t blocks_at_once() { return kStates * hn::Lanes(WideTag()); }

/// Does the ten rounds. What blocks share, the words of a counter but the first, makes half of the
/// first two rounds the same for all of them: these products are taken once, before.
class Rounds {
 public:
  Rounds(const std::uint32_t* key, const std::uint32_t* counter) {
    const WideTag d;
    std::uint32_t key0 = key[0];
    std::uint32_t key1 = key[1];
    for (Keys& keys : keys_) {
      keys = {hn::Set(d, key0), hn::Set(d, key1)};
      key0 += 0x9E3779B9U;
      key1 += 0xBB67AE85U;
    }
    const Words second = product(hn::Set(d, counter[2]), hn::Set(d, kSecond));
    const Words word0 =
        hn::Xor(hn::Xor(hn::ShiftRight<32>(second), hn::Set(d, counter[1])), keys_[0].first);
    word3_ = hn::Xor(hn::Set(d, counter[3]), keys_[0].second);
    word1_ = hn::Xor(second, keys_[1].first);
    first_ = product(word0, hn::Set(d, kFirst));
    first_high_ = hn::Xor(hn::ShiftRight<32>(first_), keys_[1].second);
  }

  /// Returns the state after the first two rounds of the blocks of these numbers.
  HWY_INLINE PhiloxState begin(Words numbers) const {
    const WideTag d;
    const Words first = product(numbers, hn::Set(d, kFirst));
    const Words word2 = hn::Xor(hn::ShiftRight<32>(first), word3_);
    const Words second = product(word2, hn::Set(d, kSecond));
    return {
        hn::Xor(hn::ShiftRight<32>(second), word1_), second, hn::Xor(first_high_, first), first_};
  }

  HWY_INLINE void finish(PhiloxState (&states)[kStates]) const {  // NOLINT(*-c-arrays)
#pragma GCC unroll 10
    for (int round = 2; round < kRounds; ++round) {
#pragma GCC unroll 8
      for (auto& state : states) {
        mix(state, keys_[round]);
      }
    }
  }

 private:
  static constexpr int kRounds = 10;

  Keys keys_[kRounds];  // NOLINT(modernize-avoid-c-arrays): of vectors
  Words word3_, word1_, first_, first_high_;
};

void blocks_of_words(const std::uint32_t* key,
                     const std::uint32_t* counter,
                     std::size_t groups,
                     std::uint32_t* words) {
  const WideTag d;
  const std::size_t lanes = hn::Lanes(d);
  auto* const target = reinterpret_cast<std::uint64_t*>(words);  // NOLINT(*-reinterpret-cast)
  const Rounds rounds(key, counter);
  auto blocks = hn::Iota(d, counter[0]);
  for (std::size_t i = 0; i < groups; ++i) {
    PhiloxState states[kStates];  // NOLINT(modernize-avoid-c-arrays): of registers
#pragma GCC unroll 8
    for (auto& state : states) {
      state = rounds.begin(blocks);
      blocks = hn::Add(blocks, hn::Set(d, lanes));
    }
    rounds.finish(states);
#pragma GCC unroll 8
    for (std::size_t s = 0; s < kStates; ++s) {
      const PhiloxState& state = states[s];
      hn::StoreInterleaved2(joined(state.word0, state.word1),
                            joined(state.word2, state.word3),
                            d,
                            target + 2 * lanes * (kStates * i + s));
    }
  }
}

#endif

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <Random123/philox.h>

namespace residuum {

HWY_EXPORT(blocks_of_words);
HWY_EXPORT(blocks_at_once);

namespace {

/// Writes the words of `blocks` successive blocks of Philox4x32-10, four each, to `words`. The
/// first block is that of `counter`; its first number is the one that counts blocks.
void philox_words(const std::array<std::uint32_t, 2>& key,
                  const std::array<std::uint32_t, 4>& counter,
                  std::size_t blocks,
                  std::uint32_t* words) {
  constexpr std::size_t kMostLanes = 64;
  constexpr std::size_t kFew = 4;  // these are faster one by one
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(blocks_at_once)();
  const std::size_t whole = blocks / lanes * lanes;
  HWY_DYNAMIC_DISPATCH(blocks_of_words)(key.data(), counter.data(), blocks / lanes, words);
  if (lanes <= kMostLanes && whole + kFew < blocks) {
    std::array<std::uint32_t, 4 * kMostLanes> last{};
    auto at = counter;
    at[0] += static_cast<std::uint32_t>(whole);
    HWY_DYNAMIC_DISPATCH(blocks_of_words)(key.data(), at.data(), 1, last.data());
    std::copy_n(last.begin(), 4 * (blocks - whole), words + 4 * whole);
    return;
  }
  for (std::size_t block = whole; block < blocks; ++block) {
    const r123::Philox4x32::ctr_type at{
        {counter[0] + static_cast<std::uint32_t>(block), counter[1], counter[2], counter[3]}};
    const auto last = r123::Philox4x32()(at, r123::Philox4x32::key_type{{key[0], key[1]}});
    std::copy_n(last.begin(), 4, words + 4 * block);
  }
}

}  // namespace

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
  const double radius = std::sqrt(2 * exponential());
  const auto [cosine, sine] = elementary::turned(uniform());
  spare_normal_ = radius * sine;
  has_spare_ = true;
  return radius * cosine;
}

// 1 - u is exact, since u is a multiple of 2^-53. 0 less the logarithm is never -0.
double RandomStream::exponential() { return 0 - elementary::log(1 - uniform()); }

double RandomStream::gamma(double shape) {
  assert(shape > 0);
  if (shape < 1) {
    const double boost = elementary::power(1 - uniform(), 1 / shape);
    return gamma(shape + 1) * boost;
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal();
    const double root = 1 + c * x;
    const double v = root * root * root;
    if (v > 0 && -exponential() < 0.5 * x * x + d - d * v + d * elementary::log(v)) {
      return d * v;
    }
  }
}

}  // namespace residuum
#endif
