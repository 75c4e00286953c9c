// The hash of RFC 9923, and the digits that are kept of it.

#include "core/fnv1a.h"

#include <gtest/gtest.h>

namespace residuum {
namespace {

std::uint64_t hash(std::string_view bytes) {
  Fnv1a hash;
  hash.add(bytes);
  return hash.value();
}

// Test vectors of RFC 9923, appendix: FNV-1a, 64 bit.
TEST(Fnv1a, IsThatOfTheRfc) {
  EXPECT_EQ(hash(""), 0xcbf29ce484222325);
  EXPECT_EQ(hash("a"), 0xaf63dc4c8601ec8c);
  EXPECT_EQ(hash("foobar"), 0x85944171f73967e8);
}

TEST(Fnv1a, OfPartsIsThatOfTheWhole) {
  Fnv1a parts;
  parts.add("foo");
  parts.add(std::uint8_t{'b'});
  parts.add("ar");
  EXPECT_EQ(parts.value(), hash("foobar"));
}

// The last 12 hexadecimal digits of MurmurHash3's 64-bit finaliser of FNV-1a, computed in Python.
TEST(Fnv1a, KeepsTwelveDigits) {
  EXPECT_EQ(short_hash(""), "1f60ba992926");
  EXPECT_EQ(short_hash("a"), "a958a9bece5b");
}

}  // namespace
}  // namespace residuum
