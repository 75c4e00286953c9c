// Sums of messages against sums by hand, their form on the wire, and what damaged bytes do.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "core/protocols/late_messages.h"

namespace residuum {
namespace {

using ::testing::ElementsAre;
using Messages = std::vector<std::unique_ptr<LateMessage<float>>>;

constexpr std::size_t kDimension = 6;

std::unique_ptr<LateMessage<float>> list_of(int worker,
                                            std::uint64_t number,
                                            SparseVector<float> entries) {
  auto late_message = std::make_unique<LateMessage<float>>();
  late_message->worker = worker;
  late_message->number = number;
  late_message->message.entries = std::move(entries);
  return late_message;
}

std::unique_ptr<LateMessage<float>> whole_of(int worker, std::vector<float> accumulator) {
  auto late_message = std::make_unique<LateMessage<float>>();
  late_message->worker = worker;
  late_message->message.everything = true;
  late_message->accumulator = std::move(accumulator);
  return late_message;
}

Messages three_lists() {
  Messages messages;
  messages.push_back(list_of(1, 0, {{0, 2}, {8, 4}}));
  messages.push_back(list_of(0, 7, {{2, 5}, {2, 1}}));
  messages.push_back(list_of(0, 6, {{0, 2}, {16, -4}}));
  return messages;
}

Bytes packed(const MessageSum<float>& sum) {
  Bytes bytes;
  pack_sum(sum, kDimension, bytes);
  return bytes;
}

MessageSum<float> unpacked(const Bytes& bytes) {
  MessageSum<float> sum;
  unpack_sum<float>(bytes, kDimension, {}, sum);
  return sum;
}

TEST(MessageSums, AddUpOverTheUnionOfSupports) {
  const auto sum = sum_of<float>(three_lists(), Weights::plain, kDimension);
  EXPECT_THAT(sum.message.entries.indices, ElementsAre(0U, 2U, 5U));
  EXPECT_THAT(sum.message.entries.values, ElementsAre(24.0F, 2.0F, 1.0F));
}

TEST(MessageSums, GiveEachWorkerTheSamePart) {
  // The two messages of worker 0 count half each.
  const auto sum = sum_of<float>(three_lists(), Weights::per_worker, kDimension);
  EXPECT_THAT(sum.message.entries.indices, ElementsAre(0U, 2U, 5U));
  EXPECT_THAT(sum.message.entries.values, ElementsAre(16.0F, 3.0F, 0.5F));
}

TEST(MessageSums, AreWholeVectorsWhereMessagesAreEverything) {
  Messages messages;
  messages.push_back(whole_of(1, {1, 2, 3, 4, 5, 6}));
  messages.push_back(whole_of(0, {10, 0, 0, 0, 0, -6}));
  const auto sum = sum_of<float>(messages, Weights::plain, kDimension);
  EXPECT_TRUE(sum.message.everything);
  EXPECT_THAT(sum.whole, ElementsAre(11, 2, 3, 4, 5, 0));
  Bytes bytes;
  EXPECT_EQ(pack_sum(sum, kDimension, bytes), 24U);
  EXPECT_EQ(unpacked(bytes).whole, sum.whole);
  EXPECT_TRUE(unpacked(bytes).message.everything);
}

TEST(MessageSums, TravelInTheShorterForm) {
  MessageSum<float> sum;
  sum.message.entries = {{0, 2, 5}, {24, 2, 1}};
  Bytes bytes;
  EXPECT_EQ(pack_sum(sum, kDimension, bytes), 24U);  // as a list and as a whole vector
  EXPECT_EQ(bytes.size(), 25U);
  EXPECT_EQ(unpacked(bytes).message.entries, sum.message.entries);
  sum.message.entries = {{0, 2, 4, 5}, {24, 2, -3, 1}};
  bytes.clear();
  EXPECT_EQ(pack_sum(sum, kDimension, bytes), 24U);  // a list would have 32
  EXPECT_EQ(unpacked(bytes).message.entries, sum.message.entries);
  EXPECT_FALSE(unpacked(bytes).message.everything);
}

/// Six numbers in blocks of 2: three counts of two bits and two places of one take two bytes.
TEST(MessageSums, OfOneMessageTravelInTheFormOfItsIndices) {
  MessageSum<float> sum;
  sum.message.form = {.kind = IndexForm::Kind::local, .block = 2};
  sum.message.entries = {{1, 4}, {24, 2}};
  Bytes bytes;
  EXPECT_EQ(pack_sum(sum, kDimension, bytes), 10U);
  EXPECT_EQ(bytes.size(), 11U);
  const auto received = [&] {
    MessageSum<float> came;
    came.message.form = sum.message.form;
    came.message.coded_values = 2;
    EXPECT_EQ(unpack_sum<float>(bytes, kDimension, {}, came), 10U);
    return came.message;
  };
  EXPECT_EQ(received().entries, sum.message.entries);
  EXPECT_EQ(received().form, sum.message.form);
  bytes[1] = std::byte{0};  // no block has entries
  EXPECT_THROW(received(), Error);
  bytes = packed({.message = {.entries = sum.message.entries}, .whole = {}});
  MessageSum<float> came;
  came.message.form = sum.message.form;
  unpack_sum<float>(bytes, kDimension, {}, came);
  EXPECT_EQ(came.message.form, IndexForm{}) << "a sum travels as a list";
}

TEST(MessageSums, RefuseBytesThatFitNoSum) {
  MessageSum<float> sum;
  sum.message.entries = {{1, 4}, {1, 2}};
  const Bytes sound = packed(sum);
  EXPECT_NO_THROW(unpacked(sound));
  EXPECT_THROW(unpacked({}), Error);
  Bytes bytes = sound;
  bytes.pop_back();
  EXPECT_THROW(unpacked(bytes), Error);
  bytes = sound;
  bytes[0] = std::byte{3};  // no quantiser
  EXPECT_THROW(unpacked(bytes), Error);
  bytes = sound;
  bytes[0] = std::byte{5};  // no form
  EXPECT_THROW(unpacked(bytes), Error);
  bytes = sound;
  bytes[0] = std::byte{2};  // 16 bytes are no whole vector
  EXPECT_THROW(unpacked(bytes), Error);
  sum.message.entries = {{1, 6}, {1, 2}};  // beyond the model
  EXPECT_THROW(unpacked(packed(sum)), Error);
  sum.message.entries = {{4, 1}, {1, 2}};
  EXPECT_THROW(unpacked(packed(sum)), Error);
  sum.message.entries = {{4, 4}, {1, 2}};
  EXPECT_THROW(unpacked(packed(sum)), Error);
}

}  // namespace
}  // namespace residuum
