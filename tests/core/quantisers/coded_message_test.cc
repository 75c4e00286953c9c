// A quantised message holds the values decoded from its bytes. Its bytes are those of the indices
// and of the packed values.

#include "core/quantisers/coded_message.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/vectors/dense.h"
#include "tests/core/quantisers/quantiser_cases.h"

namespace residuum {
namespace {

template <class Real>
Message<Real> quantised(const Quantiser& rule,
                        const test::Json& sparsifier,
                        const std::vector<Real>& accumulator,
                        std::span<const Segment> layers = {}) {
  auto message = test::messages_of<Real>(*test::sparsifier(sparsifier), {accumulator}).front();
  RandomStream random(1, Purpose::quantiser, 0, 0);
  quantise<Real>({.quantiser = &rule, .layers = layers}, accumulator, random, message);
  return message;
}

TEST(CodedMessage, TakesFourBytesForAnIndexAndThePackedValues) {
  const auto a = test::normal_vector<float>(1000, 1);
  const auto sign = test::quantiser({{"kind", "sign"}});
  const auto message = quantised(*sign, {{"kind", "top-k"}, {"k", 80}}, a);
  EXPECT_EQ(message.bytes(1000), 80 * 4 + 4 + 10);
  EXPECT_EQ(message.bytes(1000), message.coded.size());
  EXPECT_EQ(message.values_sent(1000), 80);
}

TEST(CodedMessage, OfEverythingHasNoIndices) {
  const auto a = test::normal_vector<float>(1000, 1);
  const auto sign = test::quantiser({{"kind", "sign"}});
  const auto message = quantised(*sign, {{"kind", "none"}}, a);
  EXPECT_FALSE(message.everything);
  EXPECT_EQ(message.bytes(1000), 4 + 125);
  EXPECT_EQ(message.entries.size(), 1000);
}

TEST(CodedMessage, HasNoZeros) {
  const auto rule = test::quantiser({{"kind", "terngrad"}});
  const auto message = quantised(*rule, {{"kind", "none"}}, test::normal_vector<double>(400, 2));
  EXPECT_TRUE(is_well_formed(message.entries, 400));
  EXPECT_LT(message.entries.size(), 400);
  EXPECT_EQ(message.values_sent(400), 400);
  EXPECT_EQ(message.bytes(400), 8 + 100);
}

// 10 blocks, 8 entries each: counts of 7 bits, places of 7; and sign's scale and bits.
TEST(CodedMessage, HasTheIndicesInTheFormOfItsSparsifier) {
  const auto a = test::normal_vector<float>(1000, 1);
  const auto sign = test::quantiser({{"kind", "sign"}});
  const auto chunks = quantised(*sign, {{"kind", "chunk-top-k"}, {"k", 80}, {"block", 100}}, a);
  EXPECT_EQ(chunks.bytes(1000), 9 + 70 + 4 + 10);
  test::Json blocks{{"kind", "random-block"}, {"k", 300}, {"block", 100}};
  EXPECT_EQ(quantised(*sign, blocks, a).bytes(1000), 4 + 38) << "shared: without numbers";
  blocks["mask"] = "per-worker";
  EXPECT_EQ(quantised(*sign, blocks, a).bytes(1000), 3 * 4 + 4 + 38);
  blocks["k"] = 1000;
  EXPECT_EQ(quantised(*sign, blocks, a).bytes(1000), 4 + 125) << "all: without numbers";
}

/// A block is sent whole: the quantiser writes its zeros too.
TEST(CodedMessage, OfWholeBlocksHasTheirZerosAmongItsValues) {
  std::vector<float> a(100);
  a[7] = 3;
  const auto rule = test::quantiser({{"kind", "natural"}});
  const auto message = quantised(*rule, {{"kind", "random-block"}, {"k", 100}, {"block", 10}}, a);
  EXPECT_EQ(message.values_sent(100), 100);
  EXPECT_TRUE(is_well_formed(message.entries, 100));
  EXPECT_EQ(message.entries.indices, (std::vector<std::uint32_t>{7}));
}

TEST(CodedMessage, OfNothingTakesNoBytes) {
  for (const auto& [name, rule] : test::quantiser_cases()) {
    const auto message = quantised(*rule, {{"kind", "top-k"}, {"k", 2}}, std::vector<float>(5));
    EXPECT_TRUE(message.entries.empty()) << name;
    EXPECT_EQ(message.bytes(5), 0) << name;
  }
}

/// The sender keeps of its own message the numbers that the receiver reads.
TEST(CodedMessage, IsTheSameForWhoSendsAndWhoReceives) {
  const auto a = test::normal_vector<float>(300, 3);
  for (const auto& [name, rule] : test::quantiser_cases()) {
    for (const test::Json& sparsifier :
         {test::Json{{"kind", "none"}},
          test::Json{{"kind", "top-k"}, {"k", 17}},
          test::Json{{"kind", "chunk-top-k"}, {"k", 17}, {"block", 64}},
          test::Json{{"kind", "random-block"}, {"k", 100}, {"block", 8}},
          test::Json{{"kind", "random-block"}, {"k", 300}, {"block", 8}},
          test::Json{{"kind", "random-block"}, {"k", 100}, {"block", 8}, {"mask", "per-worker"}}}) {
      const auto sent = quantised(*rule, sparsifier, a);
      Message<float> received{.coded = sent.coded, .coded_values = sent.coded_values};
      received.form = sent.form;
      if (sent.form.kind == IndexForm::Kind::agreed) {
        received.blocks = sent.blocks;
      }
      read_coded({.quantiser = rule.get()}, a.size(), received);
      EXPECT_EQ(received.entries, sent.entries) << name;
    }
  }
}

/// A matrix, a layer of numbers a thousand times as small, and one of which nothing is sent.
const std::vector<Segment> kThreeLayers{
    {.begin = 0, .size = 180}, {.begin = 180, .size = 20}, {.begin = 200, .size = 100}};

std::vector<float> unlike_layers() {
  auto a = test::normal_vector<float>(300, 3);
  for (std::size_t i = 180; i < 200; ++i) {
    a[i] *= 1e-3F;
  }
  std::fill(a.begin() + 200, a.end(), 0.0F);
  return a;
}

// Sign writes sums of magnitudes over counts: 10 entries of 3, and 2 of 0.5.
TEST(CodedMessage, HasAScaleForEveryLayer) {
  std::vector<double> a(300);
  for (std::size_t i = 0; i < 10; ++i) {
    a[10 * i] = i % 2 == 0 ? 3 : -3;
  }
  a[190] = 0.5;
  a[199] = -0.5;
  const auto sign = test::quantiser({{"kind", "sign"}});
  const test::Json top{{"kind", "top-k"}, {"k", 12}};
  const auto message = quantised(*sign, top, a, kThreeLayers);
  EXPECT_EQ(message.entries,
            (SparseVector<double>{{0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 190, 199},
                                  {3, -3, 3, -3, 3, -3, 3, -3, 3, -3, 0.5, -0.5}}));
  EXPECT_EQ(message.bytes(300), 12 * 4 + (8 + 2) + (8 + 1)) << "a layer without values has none";
  EXPECT_EQ(
      message.bytes(300),
      most_coded_bytes<double>({}, {.quantiser = sign.get(), .layers = kThreeLayers}, 12, 300) - 9);
}

TEST(CodedMessage, OfLayersIsTheSameForWhoSendsAndWhoReceives) {
  const auto a = unlike_layers();
  for (const auto& [name, rule] : test::quantiser_cases()) {
    for (const test::Json& sparsifier :
         {test::Json{{"kind", "none"}},
          test::Json{{"kind", "top-k"}, {"k", 17}},
          test::Json{{"kind", "chunk-top-k"}, {"k", 40}, {"block", 10}},
          test::Json{{"kind", "random-block"}, {"k", 100}, {"block", 8}, {"mask", "per-worker"}}}) {
      const Coding coding{.quantiser = rule.get(), .layers = kThreeLayers};
      const auto sent = quantised(*rule, sparsifier, a, kThreeLayers);
      EXPECT_LE(sent.coded.size(),
                most_coded_bytes<float>(sent.form, coding, sent.coded_values, a.size()));
      Message<float> received{.coded = sent.coded, .coded_values = sent.coded_values};
      received.form = sent.form;
      read_coded(coding, a.size(), received);
      EXPECT_EQ(received.entries, sent.entries) << name;
      received.coded.pop_back();
      EXPECT_THROW(read_coded(coding, a.size(), received), Error) << name;
    }
  }
}

TEST(CodedMessage, OfLayersKeepsTheSmallOnesApartFromTheLarge) {
  const auto a = unlike_layers();
  const auto error_of_small = [&](std::span<const Segment> layers) {
    const auto table = test::quantiser({{"kind", "table"}});
    const auto message = quantised(*table, {{"kind", "none"}}, a, layers);
    auto error = a;
    for (std::size_t i = 0; i < message.entries.size(); ++i) {
      error[message.entries.indices[i]] -= message.entries.values[i];
    }
    return norm_sq<float>(std::span(error).subspan(180, 20));
  };
  const double energy = norm_sq<float>(std::span(a).subspan(180, 20));
  EXPECT_LT(error_of_small(kThreeLayers), 0.2 * energy);
  EXPECT_GT(error_of_small({}), 100 * energy);
}

TEST(CodedMessage, WithDamagedIndicesIsRefused) {
  const auto rule = test::quantiser({{"kind", "sign"}});
  const auto a = test::normal_vector<float>(300, 3);
  const auto sent = quantised(*rule, {{"kind", "top-k"}, {"k", 17}}, a);
  const auto read = [&](std::size_t at, std::byte value, std::size_t values) {
    Message<float> received{.coded = sent.coded, .coded_values = values};
    received.coded.at(at) = value;
    read_coded({.quantiser = rule.get()}, a.size(), received);
  };
  EXPECT_NO_THROW(read(0, sent.coded[0], 17));
  EXPECT_THROW(read(3, std::byte{0x80}, 17), Error);        // the first index is the largest
  EXPECT_THROW(read(16 * 4 + 1, std::byte{2}, 17), Error);  // the last is above 512
  EXPECT_THROW(read(0, sent.coded[0], 16), Error);
  EXPECT_THROW(read(0, sent.coded[0], 300), Error);
  EXPECT_THROW(read(0, sent.coded[0], 301), Error);
}

}  // namespace
}  // namespace residuum
