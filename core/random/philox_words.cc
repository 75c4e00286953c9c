// Philox4x32-10 (Salmon, Moraes, Dror, Shaw, SC 2011) in the widest SIMD of the machine: every lane
// has a block of its own. The words are those of Random123.

#include "core/random/philox_words.h"

#include <algorithm>
#include <limits>

// SVE and RVV are disabled: their vectors have no size that is known when this is compiled.
#define HWY_DISABLED_TARGETS \
  (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)  // NOLINT: Highway's macro

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/random/philox_words.cc"  // NOLINT: Highway's macro
#include <hwy/foreach_target.h>                           // IWYU pragma: keep
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
using Words = hn::Vec<WordTag>;

struct PhiloxState {
  Words word0, word1, word2, word3;
};

/// The high and the low halves of the products of each lane with a constant.
struct Halves {
  Words high, low;
};
HWY_INLINE Halves product(Words a, std::uint32_t factor) {
  const WordTag d;
  const hn::RepartitionToWide<WordTag> wide;
  const auto factors = hn::Set(d, factor);
  const auto even = hn::MulEven(a, factors);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), factors);
  return {hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even))),
          hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even))};
}

HWY_INLINE void mix(PhiloxState& state, std::uint32_t key0, std::uint32_t key1) {
  const WordTag d;
  const Halves first = product(state.word0, 0xD2511F53U);
  const Halves second = product(state.word2, 0xCD9E8D57U);
  state = {hn::Xor(hn::Xor(second.high, state.word1), hn::Set(d, key0)),
           second.low,
           hn::Xor(hn::Xor(first.high, state.word3), hn::Set(d, key1)),
           first.low};
}

void blocks_of_words(const std::uint32_t* key,
                     const std::uint32_t* counter,
                     std::size_t vectors,
                     std::uint32_t* words) {
  constexpr int kRounds = 10;
  const WordTag d;
  const std::size_t lanes = hn::Lanes(d);
  auto blocks = hn::Iota(d, counter[0]);
  for (std::size_t i = 0; i < vectors; ++i) {
    PhiloxState state{
        blocks, hn::Set(d, counter[1]), hn::Set(d, counter[2]), hn::Set(d, counter[3])};
    std::uint32_t key0 = key[0];
    std::uint32_t key1 = key[1];
    for (int round = 0; round < kRounds; ++round) {
      mix(state, key0, key1);
      key0 += 0x9E3779B9U;
      key1 += 0xBB67AE85U;
    }
    hn::StoreInterleaved4(
        state.word0, state.word1, state.word2, state.word3, d, words + 4 * lanes * i);
    blocks = hn::Add(blocks, hn::Set(d, static_cast<std::uint32_t>(lanes)));
  }
}

std::size_t blocks_at_once() { return hn::Lanes(WordTag()); }

#endif

}  // namespace residuum::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <Random123/philox.h>

namespace residuum {

HWY_EXPORT(blocks_of_words);
HWY_EXPORT(blocks_at_once);

void philox_words(const std::array<std::uint32_t, 2>& key,
                  const std::array<std::uint32_t, 4>& counter,
                  std::size_t blocks,
                  std::uint32_t* words) {
  constexpr std::size_t kMostLanes = 64;
  const std::size_t lanes = HWY_DYNAMIC_DISPATCH(blocks_at_once)();
  const std::size_t whole = blocks / lanes * lanes;
  HWY_DYNAMIC_DISPATCH(blocks_of_words)(key.data(), counter.data(), blocks / lanes, words);
  if (lanes <= kMostLanes && whole < blocks) {
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

}  // namespace residuum
#endif
