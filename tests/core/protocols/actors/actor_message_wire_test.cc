// Messages come out of their bytes as they went in; bytes that are no message are refused.

#include <gtest/gtest.h>

#include "core/protocols/actors/actor.h"
#include "core/protocols/actors/actor_message.h"
#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;

constexpr Roster kRoster{.workers = 6, .nodes = 2};

AddressedMessage sum_message() {
  return {.to = kRoster.server(),
          .message = {.kind = ActorMessageKind::sum,
                      .from = kRoster.node(1),
                      .iteration = 3,
                      .version = kUnlimited,
                      .base = 5,
                      .gradients = {{.worker = 4, .iteration = 7, .base = 9},
                                    {.worker = 5, .iteration = 8, .base = kUnlimited}}}};
}

Bytes packed(const AddressedMessage& addressed) {
  Bytes bytes;
  pack(addressed, bytes);
  return bytes;
}

TEST(ActorMessageWire, BringsAMessageBackAndLeavesWhatTravelsWithIt) {
  const AddressedMessage sent = sum_message();
  Bytes bytes = packed(sent);
  EXPECT_EQ(bytes.size(), 7 * 8 + 2 * 16U);
  bytes.push_back(std::byte{17});
  std::span<const std::byte> rest = bytes;

  const AddressedMessage came = unpack_actor_message(rest, kRoster);

  EXPECT_EQ(came.to, sent.to);
  EXPECT_EQ(came.message.kind, sent.message.kind);
  EXPECT_EQ(came.message.from, sent.message.from);
  EXPECT_EQ(came.message.iteration, sent.message.iteration);
  EXPECT_EQ(came.message.version, sent.message.version);
  EXPECT_EQ(came.message.base, sent.message.base);
  EXPECT_EQ(came.message.gradients, sent.message.gradients);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0], std::byte{17});
}

std::string error_of_bytes(std::span<const std::byte> bytes) {
  return error_of([&] { unpack_actor_message(bytes, kRoster); });
}

TEST(ActorMessageWire, RefusesAMessageThatEndsEarly) {
  const Bytes bytes = packed(sum_message());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(error_of_bytes(std::span(bytes).first(size)),
              "a message between processes is damaged; run the same build of the program on all "
              "processes");
  }
  EXPECT_EQ(error_of_bytes(bytes), "");
}

TEST(ActorMessageWire, RefusesFieldsOutOfRange) {
  const auto error_with = [](const std::function<void(AddressedMessage&)>& change) {
    AddressedMessage addressed = sum_message();
    change(addressed);
    return error_of_bytes(packed(addressed));
  };
  EXPECT_NE(error_with([](auto& a) { a.to = kRoster.actors(); }), "");
  EXPECT_NE(error_with([](auto& a) { a.message.from = kRoster.actors(); }), "");
  EXPECT_NE(error_with([](auto& a) { a.message.kind = ActorMessageKind{200}; }), "");
  EXPECT_NE(error_with([](auto& a) { a.message.gradients[1].worker = kRoster.workers; }), "");
  EXPECT_EQ(error_with([](auto& a) { a.message.gradients.clear(); }), "");
}

TEST(ActorMessageWire, RefusesALengthThatNoMemoryHolds) {
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{1} << 60U, kUnlimited}) {
    Bytes bytes = packed(sum_message());
    std::memcpy(bytes.data() + 6 * sizeof(length), &length, sizeof(length));
    EXPECT_NE(error_of_bytes(bytes), "") << length;
  }
}

TEST(ActorMessageWire, RefusesAPayloadThatDoesNotBelongToItsKind) {
  AddressedMessage addressed = sum_message();
  addressed.message.kind = ActorMessageKind::progress;
  Bytes bytes = packed(addressed);
  EXPECT_EQ(error_of_bytes(bytes), "");
  bytes.push_back(std::byte{0});
  EXPECT_NE(error_of_bytes(bytes), "");
}

}  // namespace
}  // namespace residuum
