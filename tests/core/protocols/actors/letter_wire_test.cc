// Letters come out of their bytes as they went in; bytes that are no letter are refused.

#include "core/protocols/actors/letter_wire.h"

#include <gtest/gtest.h>

#include "tests/core/support.h"

namespace residuum {
namespace {

using test::error_of;

constexpr Roster kRoster{.workers = 6, .nodes = 2};

AddressedLetter sum_letter() {
  return {.to = kRoster.server(),
          .letter = {.kind = LetterKind::sum,
                     .from = kRoster.node(1),
                     .iteration = 3,
                     .version = kUnlimited,
                     .base = 5,
                     .gradients = {{.worker = 4, .iteration = 7, .base = 9},
                                   {.worker = 5, .iteration = 8, .base = kUnlimited}}}};
}

Bytes packed(const AddressedLetter& addressed) {
  Bytes bytes;
  pack(addressed, bytes);
  return bytes;
}

TEST(LetterWire, BringsALetterBackAndLeavesWhatTravelsWithIt) {
  const AddressedLetter sent = sum_letter();
  Bytes bytes = packed(sent);
  EXPECT_EQ(bytes.size(), 7 * 8 + 2 * 16U);
  bytes.push_back(std::byte{17});
  std::span<const std::byte> rest = bytes;

  const AddressedLetter came = unpack_letter(rest, kRoster);

  EXPECT_EQ(came.to, sent.to);
  EXPECT_EQ(came.letter.kind, sent.letter.kind);
  EXPECT_EQ(came.letter.from, sent.letter.from);
  EXPECT_EQ(came.letter.iteration, sent.letter.iteration);
  EXPECT_EQ(came.letter.version, sent.letter.version);
  EXPECT_EQ(came.letter.base, sent.letter.base);
  EXPECT_EQ(came.letter.gradients, sent.letter.gradients);
  ASSERT_EQ(rest.size(), 1U);
  EXPECT_EQ(rest[0], std::byte{17});
}

std::string error_of_bytes(std::span<const std::byte> bytes) {
  return error_of([&] { unpack_letter(bytes, kRoster); });
}

TEST(LetterWire, RefusesALetterThatEndsEarly) {
  const Bytes bytes = packed(sum_letter());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(error_of_bytes(std::span(bytes).first(size)),
              "a letter between processes is damaged; run the same build of the program on all of "
              "them");
  }
  EXPECT_EQ(error_of_bytes(bytes), "");
}

TEST(LetterWire, RefusesFieldsOutOfRange) {
  const auto error_with = [](const std::function<void(AddressedLetter&)>& change) {
    AddressedLetter addressed = sum_letter();
    change(addressed);
    return error_of_bytes(packed(addressed));
  };
  EXPECT_NE(error_with([](auto& a) { a.to = kRoster.actors(); }), "");
  EXPECT_NE(error_with([](auto& a) { a.letter.from = kRoster.actors(); }), "");
  EXPECT_NE(error_with([](auto& a) { a.letter.kind = LetterKind{200}; }), "");
  EXPECT_NE(error_with([](auto& a) { a.letter.gradients[1].worker = kRoster.workers; }), "");
  EXPECT_EQ(error_with([](auto& a) { a.letter.gradients.clear(); }), "");
}

TEST(LetterWire, RefusesALengthThatNoMemoryHolds) {
  for (const std::uint64_t length : {std::uint64_t{3}, std::uint64_t{1} << 60U, kUnlimited}) {
    Bytes bytes = packed(sum_letter());
    std::memcpy(bytes.data() + 6 * sizeof(length), &length, sizeof(length));
    EXPECT_NE(error_of_bytes(bytes), "") << length;
  }
}

TEST(LetterWire, RefusesAPayloadThatDoesNotBelongToItsKind) {
  AddressedLetter addressed = sum_letter();
  addressed.letter.kind = LetterKind::progress;
  Bytes bytes = packed(addressed);
  EXPECT_EQ(error_of_bytes(bytes), "");
  bytes.push_back(std::byte{0});
  EXPECT_NE(error_of_bytes(bytes), "");
}

}  // namespace
}  // namespace residuum
