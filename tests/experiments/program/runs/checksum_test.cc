// CRC-32 of text and of files that grow.

#include <gtest/gtest.h>

#include "core/error.h"
#include "experiments/program/runs/checkpoint.h"
#include "tests/experiments/support.h"

namespace residuum {
namespace {

// The check value of CRC-32 (ISO-HDLC), over the nine digits.
constexpr std::uint32_t kOfDigits = 0xcbf43926;

TEST(Checksum, IsThatOfTheStandard) {
  EXPECT_EQ(checksum(0, "123456789"), kOfDigits);
  EXPECT_EQ(checksum(checksum(0, "1234"), "56789"), kOfDigits);
  EXPECT_EQ(checksum(0, ""), 0U);
}

TEST(Checksum, OfAFileGoesOnWhereItHasEndedAndStartsAgainWhenItIsCut) {
  const TemporaryFolder folder;
  const auto file = folder.write("grows", "1234");
  GrowingSums sums;
  EXPECT_EQ(sums.of(file, 4), checksum(0, "1234"));
  folder.write("grows", "123456789");
  EXPECT_EQ(sums.of(file, 9), kOfDigits);
  EXPECT_EQ(sums.of(file, 9), kOfDigits);
  EXPECT_EQ(sums.of(file, 2), checksum(0, "12"));
  EXPECT_THROW(sums.of(file, 10), Error);
}

}  // namespace
}  // namespace residuum
