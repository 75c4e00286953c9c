// Shards of tokens against a parser of eight lines, and shards that are refused.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "objectives/data/text.h"
#include "tests/objectives/data/files.h"

namespace residuum::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

/// Little-endian.
std::string as_bytes(std::uint64_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) {
    text += static_cast<char>(number >> (8 * i) & 0xffU);
  }
  return text;
}

std::string shard_of(const std::vector<std::uint32_t>& tokens) {
  std::string bytes;
  for (const std::uint32_t token : tokens) {
    bytes += as_bytes(token, 2);
  }
  return bytes;
}

/// The head of FineWeb's shards.
std::string head_of(std::uint64_t tokens, std::uint64_t version = 1) {
  std::string head = as_bytes(20240520, 4) + as_bytes(version, 4) + as_bytes(tokens, 4);
  head.resize(1024, '\0');
  return head;
}

/// The parser of eight lines.
std::vector<std::uint32_t> simple_parse(const std::string& bytes) {
  const auto byte = [&](std::size_t at) {
    return std::uint32_t{static_cast<unsigned char>(bytes[at])};
  };
  const bool has_head = bytes.substr(0, 4) == "\x88\xd8\x34\x01";
  std::vector<std::uint32_t> tokens;
  for (std::size_t at = has_head ? 1024 : 0; at < bytes.size(); at += 2) {
    tokens.push_back(byte(at) + 256 * byte(at + 1));
  }
  return tokens;
}

std::string refusal(const std::string& bytes, std::size_t vocabulary = 50257) {
  return usage_message([&] { parse_token_shard(bytes, "t.bin", vocabulary); });
}

TEST(TokenShard, IsReadWithAndWithoutAHead) {
  const std::vector<std::uint32_t> tokens{0, 1, 255, 256, 50256, 7};
  const std::string plain = shard_of(tokens);
  const std::string headed = head_of(6) + plain;

  EXPECT_EQ(parse_token_shard(plain, "t.bin", 50257), tokens);
  EXPECT_EQ(parse_token_shard(headed, "t.bin", 50257), tokens);
  EXPECT_EQ(simple_parse(plain), tokens);
  EXPECT_EQ(simple_parse(headed), tokens);
}

TEST(TokenShard, OfManyTokensIsThatOfTheSimpleParser) {
  std::vector<std::uint32_t> tokens;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    tokens.push_back(i * i % 65521);
  }
  const std::string bytes = shard_of(tokens);
  EXPECT_EQ(parse_token_shard(bytes, "t.bin", 65536), simple_parse(bytes));
}

TEST(TokenShard, OfOtherSizesIsRefused) {
  EXPECT_THAT(refusal(""), HasSubstr("t.bin: has no tokens"));
  EXPECT_THAT(refusal("abc"), HasSubstr("t.bin: 3 bytes are no whole number of tokens"));
  EXPECT_THAT(refusal(head_of(0)), HasSubstr("has no tokens"));
  EXPECT_THAT(refusal(head_of(3).substr(0, 1000)), HasSubstr("ends in its head of 1024 bytes"));
  EXPECT_THAT(refusal(head_of(3) + shard_of({1, 2})),
              HasSubstr("its head says 3 tokens of two bytes, and 4 bytes follow"));
  EXPECT_THAT(refusal(head_of(1) + shard_of({1, 2})), HasSubstr("and 4 bytes follow"));
  EXPECT_THAT(refusal(head_of(0xffffffff) + shard_of({1})), HasSubstr("its head says -1 tokens"));
  EXPECT_THAT(refusal(head_of(1, 2) + shard_of({1})), HasSubstr("version 2 of a token shard"));
}

TEST(TokenShard, WithATokenBeyondTheVocabularyIsRefused) {
  EXPECT_EQ(parse_token_shard(shard_of({3, 9}), "t.bin", 10), (std::vector<std::uint32_t>{3, 9}));
  EXPECT_THAT(refusal(shard_of({3, 10, 11}), 10),
              HasSubstr("t.bin: token 1 is 10, and 'objective.vocabulary' is 10"));
}

TEST(TokenShard, HasHeldOutTokensOfItsOwnOrItsLastTenth) {
  const Folder folder;
  std::vector<std::uint32_t> tokens;
  for (std::uint32_t i = 0; i < 25; ++i) {
    tokens.push_back(i);
  }
  const auto train = folder.write("train.bin", shard_of(tokens));
  const TextDataset alone = read_token_shards(train, std::nullopt, 30);
  EXPECT_THAT(alone.tokens, SizeIs(23));
  EXPECT_THAT(alone.held_out, ElementsAre(23, 24));
  EXPECT_THAT(alone.vocabulary, SizeIs(30));
  const TextDataset both =
      read_token_shards(train, folder.write("val.bin", head_of(2) + shard_of({5, 6})), 30);
  EXPECT_EQ(both.tokens, tokens);
  EXPECT_THAT(both.held_out, ElementsAre(5, 6));
}

}  // namespace
}  // namespace residuum::testing
