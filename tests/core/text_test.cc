// These tests say what of a foreign text may be shown, and that messages show nothing else.

#include "core/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"

namespace residuum {
namespace {

using testing::EndsWith;
using testing::StartsWith;

TEST(Text, HasNoControlCharactersWhenItIsHarmless) {
  EXPECT_EQ(harmless("a\x1b]0;x\x07\nb\r\tc\x7f"), "a?]0;x??b??c?");
  EXPECT_EQ(harmless(std::string_view("a\0b", 3)), "a?b");
  EXPECT_EQ(harmless("\xc2\x9b"
                     "31m"),
            "?31m")
      << "C1: the escape sequences of one character";
  EXPECT_EQ(harmless("a\xe2\x80\xa8"
                     "b\xe2\x80\xae"
                     "c"),
            "a?b?c")
      << "U+2028, U+202E";
  EXPECT_EQ(harmless("a\xe2\x81\xa6"
                     "b\xef\xbb\xbf"),
            "a?b?")
      << "U+2066, U+FEFF";
}

TEST(Text, KeepsWhatCanBeRead) {
  const std::string_view text = "δ ≤ 1, naïve, 梯度, 🙂 \\ \"quoted\" <b>";
  EXPECT_EQ(harmless(text), text);
  EXPECT_EQ(harmless_lines("a\n\tb\x1b"), "a\n\tb?");
}

// The bytes are Markus Kuhn's kinds of malformed sequences: lone continuation, cut off, overlong,
// surrogate, beyond the last character.
TEST(Text, ShowsAMarkForEachByteThatIsNoUtf8) {
  EXPECT_EQ(harmless("\x80"), "?");
  EXPECT_EQ(harmless("a\xe2\x80"), "a??");
  EXPECT_EQ(harmless("\xc0\xaf"), "??");
  EXPECT_EQ(harmless("\xed\xa0\x80"), "???");
  EXPECT_EQ(harmless("\xf4\x90\x80\x80"), "????");
  EXPECT_TRUE(is_utf8("δ"));
  EXPECT_FALSE(is_utf8("δ\xff"));
}

TEST(Text, IsShortenedBetweenItsCharacters) {
  EXPECT_EQ(shortened(std::string(100, 'x'), 100), std::string(100, 'x'));
  EXPECT_EQ(shortened(std::string(300, 'x') + std::string(300, 'y'), 105),
            std::string(75, 'x') + " ... " + std::string(25, 'y'));
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "δ🙂梯";  // 2, 4 and 3 bytes
  }
  for (std::size_t longest = 100; longest < 140; ++longest) {
    const std::string cut = shortened(text, longest);
    EXPECT_TRUE(is_utf8(cut)) << longest;
    EXPECT_LE(cut.size(), longest);
    EXPECT_GE(cut.size(), longest - 6);
  }
}

TEST(Text, OfAnErrorIsOneHarmlessLine) {
  EXPECT_STREQ(Error(ExitCode::usage, "kind 'x\x1b[2J\nline2' is unknown").what(),
               "kind 'x?[2J?line2' is unknown");
}

TEST(Text, OfAnErrorKeepsItsBeginningAndItsEnd) {
  const std::string what =
      Error(ExitCode::usage, "s.toml:1: '" + std::string(1'000'000, 'x') + "' is too long").what();
  EXPECT_EQ(what.size(), 900);
  EXPECT_THAT(what, StartsWith("s.toml:1: 'xxx"));
  EXPECT_THAT(what, EndsWith("xxx' is too long"));
}

}  // namespace
}  // namespace residuum
