// How wide a text is, and where its lines break.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reports/figures/drawn_text.h"

namespace residuum::reports {
namespace {

using ::testing::ElementsAre;

// Advances of DejaVu Sans in font units, of 2048 to an em: A 1401, space 651, 0 1303.
TEST(TextWidth, IsThatOfTheFontsTable) {
  EXPECT_NEAR(text_width("A"), 1401.0 / 2048, 5e-4);
  EXPECT_NEAR(text_width("A 0"), (1401.0 + 651 + 1303) / 2048, 2e-3);
  EXPECT_EQ(text_width(""), 0);
  EXPECT_GT(text_width("中"), text_width("A"));
}

TEST(TextWidth, LinesBreakAtBlanksFirstThenBehindSignsThenAnywhere) {
  EXPECT_THAT(wrapped_text("aa bb", 100), ElementsAre("aa bb"));
  EXPECT_THAT(wrapped_text("aa bb", 1.3), ElementsAre("aa", "bb"));
  EXPECT_THAT(wrapped_text("aa-bb", 2.0), ElementsAre("aa-", "bb"));
  EXPECT_THAT(wrapped_text("000000", 2.0), ElementsAre("000", "000"));
  EXPECT_THAT(wrapped_text("中中", 0.1), ElementsAre("中", "中")) << "a character is never cut";
  EXPECT_THAT(wrapped_text("", 5), ElementsAre(""));
}

TEST(TextWidth, NoLineIsWiderThanTheRoom) {
  for (const auto& text : {std::string("gtopk-tree, top-k, rho=0.01"),
                           std::string(40, 'W'),
                           std::string("sparsified descent with error feedback")}) {
    for (double room = 2; room < 30; room += 0.5) {
      for (const auto& line : wrapped_text(text, room)) {
        EXPECT_LE(text_width(line), room) << text;
      }
    }
  }
}

}  // namespace
}  // namespace residuum::reports
