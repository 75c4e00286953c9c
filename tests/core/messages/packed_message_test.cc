// Packed messages against bytes by hand, every string of bytes of a small world, and what comes
// back of messages that sparsifiers made.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/messages/bit_codes.h"
#include "core/messages/message.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using Kind = IndexForm::Kind;
using PackedBytes = std::vector<std::byte>;
using Numbers = std::vector<std::uint32_t>;

template <class Real>
PackedBytes packed_form(const Message<Real>& message, std::size_t d) {
  PackedBytes bytes;
  pack_message(message, d, bytes);
  return bytes;
}

/// Returns the message that a receiver reads from the bytes, who knows the form and the blocks.
template <class Real>
Message<Real> received_of(const PackedBytes& bytes,
                          std::size_t n,
                          std::size_t d,
                          const IndexForm& form,
                          const Numbers& agreed = {}) {
  Message<Real> message;
  message.form = form;
  message.blocks = agreed;
  message.entries.push_back(77, 1);  // a leftover of another message
  unpack_message(std::span<const std::byte>(bytes), n, d, message);
  return message;
}

PackedBytes bytes_of(const std::vector<int>& numbers) {
  PackedBytes bytes;
  for (const int number : numbers) {
    bytes.push_back(static_cast<std::byte>(number));
  }
  return bytes;
}

PackedBytes indices_of(const PackedBytes& bytes, std::size_t size) {
  return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
}

/// Blocks of 4, 4 and 2 entries: counts 2, 0, 1 in three bits each, places 1, 3, 0 in two.
Message<float> local_message() {
  Message<float> message;
  message.form = {.kind = Kind::local, .block = 4};
  message.entries = {{1, 3, 8}, {5, -6, 7}};
  return message;
}

/// The same blocks, of which the first and the short last are sent whole.
Message<float> block_message(Kind kind) {
  Message<float> message;
  message.form = {.kind = kind, .block = 4};
  message.blocks = {0, 2};
  message.entries = {{1, 9}, {5, -6}};
  return message;
}

TEST(PackedMessages, TellCountsOfBlocksAndPlacesInThem) {
  const auto bytes = packed_form(local_message(), 10);
  EXPECT_EQ(bytes.size(), 2 + 1 + 3 * sizeof(float));
  EXPECT_EQ(bytes.size(), local_message().bytes(10));
  EXPECT_EQ(indices_of(bytes, 3), bytes_of({2 + (1 << 6), 0, 1 + (3 << 2)}));
  EXPECT_EQ(received_of<float>(bytes, 3, 10, local_message().form).entries,
            local_message().entries);
}

TEST(PackedMessages, TellTheNumbersOfBlocksThatAreSentWhole) {
  const auto message = block_message(Kind::blocks);
  const auto bytes = packed_form(message, 10);
  EXPECT_EQ(message.values_sent(10), 6);  // 4 and 2
  EXPECT_EQ(bytes.size(), 2 * 4 + 6 * sizeof(float));
  EXPECT_EQ(bytes.size(), message.bytes(10));
  EXPECT_EQ(indices_of(bytes, 8), bytes_of({0, 0, 0, 0, 2, 0, 0, 0}));
  const auto received = received_of<float>(bytes, 6, 10, message.form);
  EXPECT_EQ(received.entries, message.entries);
  EXPECT_EQ(received.blocks, message.blocks);
}

TEST(PackedMessages, HaveValuesAloneWhereBlocksAreAgreed) {
  const auto message = block_message(Kind::agreed);
  const auto bytes = packed_form(message, 10);
  std::vector<float> values(6);
  ASSERT_EQ(bytes.size(), values.size() * sizeof(float));
  EXPECT_EQ(bytes.size(), message.bytes(10));
  read_numbers(bytes, std::span(values));
  EXPECT_EQ(values, (std::vector<float>{0, 5, 0, 0, 0, -6}));
  EXPECT_EQ(received_of<float>(bytes, 6, 10, message.form, message.blocks).entries,
            message.entries);
  EXPECT_THROW(received_of<float>(bytes, 6, 10, message.form, {0, 1}), Error) << "8 values";
}

template <class Real>
void expect_round_trips(const test::Json& values, std::size_t d) {
  const auto rule = test::sparsifier(values);
  test::Rows<Real> rows{test::normal_vector<Real>(d, d), std::vector<Real>(d)};
  rows.push_back(rows.front());
  for (std::size_t i = 0; i < d; i += 3) {
    rows.back()[i] = 0;
  }
  for (const auto& message : test::messages_of<Real>(*rule, rows)) {
    const auto bytes = packed_form(message, d);
    ASSERT_EQ(bytes.size(), message.bytes(d)) << values << d;
    const auto received =
        received_of<Real>(bytes, message.values_sent(d), d, rule->index_form(d), message.blocks);
    ASSERT_EQ(received.entries, message.entries) << values << d;
    ASSERT_EQ(received.bytes(d), bytes.size()) << values << d;
  }
}

TEST(PackedMessages, ComeBackAsTheyWereSent) {
  for (const std::size_t d : {1U, 5U, 64U, 1000U}) {
    for (const std::uint32_t block : {1U, 2U, 3U, 64U, 100U, 4096U, 4294967295U}) {
      for (const double density : {0.01, 0.3, 1.0}) {
        const test::Json amount{{"density", density}, {"block", block}};
        for (const test::Json& rule :
             {test::Json{{"kind", "chunk-top-k"}},
              test::Json{{"kind", "random-block"}},
              test::Json{{"kind", "random-block"}, {"mask", "per-worker"}}}) {
          test::Json values = amount;
          values.update(rule);
          expect_round_trips<float>(values, d);
          expect_round_trips<double>(values, d);
        }
      }
    }
  }
}

/// Five numbers in blocks of 2, 2 and 1: three counts of two bits fill a byte, and so do up to five
/// places of a bit; all five have no indices. Of all strings of bytes as many are messages of n
/// values as there are sets of n indices, and every one is written as it was read.
TEST(PackedMessages, AreAsManyAsThereAreSetsOfIndices) {
  constexpr std::size_t kDimension = 5;
  const std::vector<int> sets{1, 5, 10, 10, 5, 1};
  const IndexForm form{.kind = Kind::local, .block = 2};
  for (std::size_t n = 0; n <= kDimension; ++n) {
    int taken = 0;
    const std::size_t of_indices = n == 0 ? 1 : n == kDimension ? 0 : 2;
    ASSERT_EQ(index_bytes(form, n, kDimension), of_indices);
    for (int string = 0; string < 1 << (8 * of_indices); ++string) {
      PackedBytes bytes = bytes_of({string % 256, string / 256});
      bytes.resize(of_indices);
      const PackedBytes ones = bytes_of({0, 0, 128, 63});  // 1 as float
      for (std::size_t i = 0; i < n; ++i) {
        bytes.insert(bytes.end(), ones.begin(), ones.end());
      }
      try {
        const auto message = received_of<float>(bytes, n, kDimension, form);
        ++taken;
        EXPECT_TRUE(is_well_formed(message.entries, kDimension));
        EXPECT_EQ(packed_form(message, kDimension), bytes);
      } catch (const Error&) {  // it is no message
      }
    }
    EXPECT_EQ(taken, sets[n]) << n << " values";
  }
}

TEST(PackedMessages, OfAnotherLengthAreRefused) {
  for (const auto& message : {local_message(), block_message(Kind::blocks)}) {
    const std::size_t n = message.values_sent(10);
    const auto sound = packed_form(message, 10);
    EXPECT_NO_THROW(received_of<float>(sound, n, 10, message.form));
    for (std::size_t size = 0; size <= sound.size() + 8; ++size) {
      if (size != sound.size()) {
        PackedBytes bytes = sound;
        bytes.resize(size);
        EXPECT_THROW(received_of<float>(bytes, n, 10, message.form), Error) << size;
      }
    }
    for (const std::size_t other : {n - 1, n + 1, std::size_t{11}, ~std::size_t{0}}) {
      EXPECT_THROW(received_of<float>(sound, other, 10, message.form), Error) << other;
    }
  }
}

TEST(PackedMessages, WithNumbersOfNoBlocksAreRefused) {
  const auto message = block_message(Kind::blocks);
  const auto sound = packed_form(message, 10);
  const auto with = [&](std::uint32_t first, std::uint32_t second) {
    PackedBytes bytes = sound;
    write_numbers<std::uint32_t>(Numbers{first, second}, bytes);
    received_of<float>(bytes, 6, 10, message.form);
  };
  EXPECT_NO_THROW(with(1, 2));
  EXPECT_THROW(with(0, 1), Error) << "8 values";
  EXPECT_THROW(with(2, 0), Error);
  EXPECT_THROW(with(2, 2), Error);
  EXPECT_THROW(with(0, 3), Error);
  EXPECT_THROW(with(0, 0xffffffff), Error);
}

}  // namespace
}  // namespace residuum
