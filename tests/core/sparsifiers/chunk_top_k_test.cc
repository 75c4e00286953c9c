// Top-k of blocks against vectors by hand, Top-k of each block, and the bound that it states.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/vectors/dense.h"
#include "core/vectors/fused.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::Json;

std::unique_ptr<Sparsifier> chunks(std::size_t k, std::size_t block) {
  return test::sparsifier({{"kind", "chunk-top-k"}, {"k", k}, {"block", block}});
}

template <class Real>
SparseVector<Real> chosen(const Sparsifier& rule, const std::vector<Real>& x) {
  return test::messages_of<Real>(rule, {x}).front().entries;
}

TEST(ChunkTopK, KeepsTheLargestOfEveryBlockAndNoZeros) {
  const auto kept = chosen<double>(*chunks(3, 3), {1, -4, 4, 0, 2, -2, 0});
  EXPECT_EQ(kept.indices, (std::vector<std::uint32_t>{1, 4}));
  EXPECT_EQ(kept.values, (std::vector<double>{-4, 2}));
}

// Blocks end at 4, 8 and 10: of k = 5 they have floor(2), floor(4) and floor(5) together.
TEST(ChunkTopK, SharesOutKInProportionAndAtLeastOneEach) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_EQ(chosen(*chunks(5, 4), x).indices, (std::vector<std::uint32_t>{2, 3, 6, 7, 9}));
  EXPECT_EQ(chunks(5, 4)->k(10), 5);
  EXPECT_EQ(chosen(*chunks(1, 4), x).indices, (std::vector<std::uint32_t>{3, 7, 9}));
  EXPECT_EQ(chunks(1, 4)->k(10), 3);
  const auto by_density =
      test::sparsifier({{"kind", "chunk-top-k"}, {"density", 0.5}, {"block", 4}});
  EXPECT_EQ(chosen(*by_density, x).indices, (std::vector<std::uint32_t>{2, 3, 6, 7, 9}));
}

TEST(ChunkTopK, HasBlocksOf4096EntriesUnlessToldOtherwise) {
  const auto rule = test::sparsifier({{"kind", "chunk-top-k"}, {"k", 1}});
  EXPECT_EQ(rule->k(4096), 1);
  EXPECT_EQ(rule->k(4097), 2);
}

/// Normal numbers, and few values, so that many are equal or zero.
template <class Real>
test::Rows<Real> vectors_of(std::size_t d) {
  auto normal = test::normal_vector<Real>(d, d);
  std::vector<Real> few(d);
  for (std::size_t i = 0; i < d; ++i) {
    few[i] = std::round(normal[i]);
  }
  return {normal, few, std::vector<Real>(d, Real{-2})};
}

template <class Real>
void expect_top_k_of_blocks(std::size_t d, std::size_t k, std::size_t block) {
  for (const auto& x : vectors_of<Real>(d)) {
    SparseVector<Real> expected;
    for (std::size_t begin = 0; begin < d; begin += block) {
      const std::size_t end = std::min(d, begin + block);
      const std::size_t share = std::max<std::size_t>(1, end * k / d - begin * k / d);
      const std::vector<Real> part(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                   x.begin() + static_cast<std::ptrdiff_t>(end));
      const auto top = chosen<Real>(*test::sparsifier({{"kind", "top-k"}, {"k", share}}), part);
      for (std::size_t i = 0; i < top.size(); ++i) {
        expected.push_back(static_cast<std::uint32_t>(begin + top.indices[i]), top.values[i]);
      }
    }
    ASSERT_EQ(chosen<Real>(*chunks(k, block), x), expected) << d << ", " << k << ", " << block;
  }
}

TEST(ChunkTopK, IsTopKOfEachBlock) {
  for (const std::size_t d : {1U, 2U, 7U, 64U, 1000U}) {
    for (const std::size_t block : {1U, 2U, 3U, 16U, 999U}) {
      for (const std::size_t k : {std::size_t{1}, (d + 9) / 10, (d + 1) / 2, d}) {
        expect_top_k_of_blocks<float>(d, k, block);
        expect_top_k_of_blocks<double>(d, k, block);
      }
    }
  }
}

/// The magnitudes of the blocks differ by powers of ten, so that the cut of one says nothing of the
/// next, and one workspace serves several vectors.
TEST(ChunkTopK, IsTopKOfEachLongBlockWhateverTheOneBeforeWas) {
  for (const std::size_t block : {300U, 1000U, 4096U, 5000U}) {
    expect_top_k_of_blocks<float>(20000, 200, block);
    expect_top_k_of_blocks<double>(20000, 10000, block);
  }
  const auto rule = chunks(2000, 1000);
  SelectWorkspace workspace;
  Message<float> message;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    auto x = test::normal_vector<float>(20000, seed);
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] *= std::pow(10.0F, static_cast<float>((i / 1000 * seed) % 7) - 3);
    }
    rule->select(std::span<const float>(x), {}, workspace, message);
    EXPECT_EQ(message.entries, chosen(*rule, x)) << "a fresh workspace";
    for (std::size_t begin = 0; begin < x.size(); begin += 1000) {
      const std::vector<float> part(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                    x.begin() + static_cast<std::ptrdiff_t>(begin + 1000));
      const auto top = chosen<float>(*test::sparsifier({{"kind", "top-k"}, {"k", 100}}), part);
      const std::vector<float> kept(
          message.entries.values.begin() + static_cast<std::ptrdiff_t>(begin / 10),
          message.entries.values.begin() + static_cast<std::ptrdiff_t>(begin / 10 + 100));
      ASSERT_EQ(kept, top.values) << begin;
    }
  }
}

/// Entry i is drawn with scale_of(i); the draw differs from iteration to iteration.
template <class Real, class ScaleOf>
std::vector<Real> gradient_of(std::size_t d, std::uint32_t iteration, const ScaleOf& scale_of) {
  auto gradient = test::normal_vector<Real>(d, 100 + iteration);
  for (std::size_t i = 0; i < d; ++i) {
    gradient[i] *= static_cast<Real>(scale_of(i, iteration));
  }
  return gradient;
}

/// Runs error feedback as training does, whose pass notes candidates for the selection, and returns
/// how many candidates the last selection was given.
template <class Real, class ScaleOf>
std::size_t expect_top_k_of_blocks_after_passes(std::size_t block, const ScaleOf& scale_of) {
  constexpr std::size_t kSize = 20'000;
  constexpr std::size_t kKept = 200;
  const auto rule = chunks(kKept, block);
  const std::vector<Segment> whole{{.begin = 0, .size = kSize}};
  std::vector<Real> memory(kSize);
  SelectWorkspace warm;
  std::size_t given = 0;
  for (std::uint32_t t = 0; t < 25; ++t) {
    const auto gradient = gradient_of<Real>(kSize, t, scale_of);
    accumulate<Real>(memory, gradient, Real{1}, {.segments = whole, .candidates = warm.parts});
    given = warm.found().complete ? warm.found().indices.size() : 0;
    Message<Real> message;
    rule->select(std::span<const Real>(memory), {}, warm, message);
    EXPECT_EQ(message.entries, chosen<Real>(*rule, memory)) << block << " at " << t;
    for (const std::uint32_t i : message.entries.indices) {
      memory[i] = 0;
    }
  }
  return given;
}

template <class Real>
void expect_top_k_of_blocks_in_training() {
  for (const std::size_t block : {50U, 700U, 4096U}) {
    SCOPED_TRACE(block);
    const auto alike = [](std::size_t, std::uint32_t) { return 1.0; };
    EXPECT_GT(expect_top_k_of_blocks_after_passes<Real>(block, alike), 200U);
    // The largest blocks alone have more candidates than a pass collects, and the others none.
    const auto unlike = [](std::size_t i, std::uint32_t) { return i < 15'000 ? 1.0 : 1e-4; };
    expect_top_k_of_blocks_after_passes<Real>(block, unlike);
    const auto vanishing = [](std::size_t i, std::uint32_t t) {
      return i % 20'000 < 10'000 || t % 7 == 3 ? 0.0 : std::pow(0.3, t);
    };
    expect_top_k_of_blocks_after_passes<Real>(block, vanishing);
    const auto growing = [](std::size_t i, std::uint32_t t) {
      return (i + 4000 * t) % 20'000 < 4000 ? std::pow(3.0, t % 9) : 1e-3;
    };
    expect_top_k_of_blocks_after_passes<Real>(block, growing);
  }
}

TEST(ChunkTopK, IsTopKOfEachBlockWhateverThePassHasNoted) {
  expect_top_k_of_blocks_in_training<float>();
  expect_top_k_of_blocks_in_training<double>();
}

TEST(ChunkTopK, ForgetsTheBoundOfAVectorWithoutEntries) {
  const auto rule = chunks(4, 512);
  SelectWorkspace workspace;
  Message<float> message;
  const std::vector<float> zeros(2048);
  rule->select(std::span<const float>(zeros), {}, workspace, message);
  EXPECT_EQ(message.entries.size(), 0U);
  EXPECT_EQ(workspace.found().bound, 0);
}

TEST(ChunkTopK, OfOneBlockIsTopK) {
  for (const std::size_t d : {1U, 5U, 300U}) {
    for (const std::size_t k : {std::size_t{1}, (d + 3) / 4, d}) {
      const auto top = test::sparsifier({{"kind", "top-k"}, {"k", k}});
      for (const std::size_t block : {d, d + 1, std::size_t{4294967295}}) {
        const auto rule = chunks(k, block);
        EXPECT_EQ(rule->k(d), k);
        EXPECT_EQ(rule->law(d, 1).contraction, top->law(d, 1).contraction);
        for (const auto& x : vectors_of<float>(d)) {
          EXPECT_EQ(chosen(*rule, x), chosen(*top, x)) << d << ", " << k << ", " << block;
        }
      }
    }
  }
}

double lost_share(const Sparsifier& rule, const std::vector<double>& x) {
  return 1 - norm_sq<double>(chosen(rule, x).values) / norm_sq<double>(x);
}

// Equal magnitudes in the block of the least share and zeros elsewhere meet the bound.
TEST(ChunkTopK, LosesAtMostTheShareOfTheBlockThatKeepsLeast) {
  EXPECT_EQ(chunks(5, 4)->law(10, 1).contraction, 0.5);
  EXPECT_EQ(lost_share(*chunks(5, 4), {3, 3, -3, 3, 0, 0, 0, 0, 0, 0}), 0.5);
  EXPECT_EQ(chunks(1, 4)->law(10, 1).contraction, 0.25) << "1/4, 1/4 and 1/2";
  EXPECT_EQ(lost_share(*chunks(1, 4), {0, 0, 0, 0, 1, 1, 1, -1, 0, 0}), 0.75);
  EXPECT_EQ(chunks(10, 4)->law(10, 1).contraction, 1);
  EXPECT_EQ(chunks(3, 4)->law(9, 1).contraction, 0.25) << "floor(12/9), 2 - 1 and 3 - 2";
}

/// Every vector of {-1, 0, 2}^6, every k and every block.
TEST(ChunkTopK, KeepsItsBoundInASmallWorld) {
  for (int number = 1; number < 729; ++number) {
    std::vector<double> x;
    for (int rest = number, i = 0; i < 6; ++i, rest /= 3) {
      x.push_back(std::vector<double>{0, -1, 2}[static_cast<std::size_t>(rest % 3)]);
    }
    for (std::size_t k = 1; k <= 6; ++k) {
      for (std::size_t block = 1; block <= 6; ++block) {
        const auto rule = chunks(k, block);
        ASSERT_LE(lost_share(*rule, x), 1 - *rule->law(6, 1).contraction + 1e-15)
            << number << ", " << k << ", " << block;
      }
    }
  }
}

// 10^6 numbers in 245 blocks: 13 bits for a count, 12 for a place, 32 for a value.
TEST(ChunkTopK, SendsFewerBytesThanListedIndices) {
  constexpr std::size_t kDimension = 1000000;
  const auto rule = test::sparsifier({{"kind", "chunk-top-k"}, {"density", 0.01}});
  const auto message =
      test::messages_of<float>(*rule, {test::normal_vector<float>(kDimension, 1)}).front();
  EXPECT_EQ(message.entries.size(), 10000);
  EXPECT_EQ(message.bytes(kDimension), (245 * 13 + 7) / 8 + 10000 * 12 / 8 + 10000 * 4);
}

TEST(ChunkTopK, RefusesBlocksWithoutEntriesAndKeysThatItHasNot) {
  const auto error = [](const Json& key) {
    Json values{{"kind", "chunk-top-k"}, {"k", 1}};
    values.update(key);
    return test::error_of([&] { test::sparsifier(values); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(error({{"block", 0}}),
              HasSubstr("'sparsifier.block' must lie between 1 and 4294967295, got 0"));
  EXPECT_THAT(error({{"block", 4294967296}}), HasSubstr("got 4294967296"));
  EXPECT_THAT(error({{"block", 2.5}}), HasSubstr("'sparsifier.block'"));
  EXPECT_THAT(error({{"mask", "shared"}}), HasSubstr("mask"));
  EXPECT_THAT(error({{"blocks", 4}}), HasSubstr("blocks"));
  EXPECT_EQ(error({{"block", 4}}), "");
}

}  // namespace
}  // namespace residuum
