#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/text.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/catalogue.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using namespace std::string_literals;
using testing::Folder;
using ::testing::HasSubstr;
using testing::usage_message;

TEST(Utf8, IsWhatTheStandardHasIt) {
  for (const std::string& text : {""s,
                                  "plain\r\n\t\f"s,
                                  "caf\xc3\xa9"s,
                                  "\xe2\x82\xac"s,         // the euro sign
                                  "\xed\x9f\xbf"s,         // the last before the surrogates
                                  "\xf0\x90\x80\x80"s,     // the first beyond 16 bits
                                  "\xf4\x8f\xbf\xbf"s}) {  // the last of all
    EXPECT_EQ(first_no_text(text), std::nullopt) << text;
  }
}

// The examples of RFC 3629 and of the Unicode standard's table of well-formed sequences.
TEST(Utf8, IsNotWhatTheStandardForbids) {
  for (const std::string& bytes : {"\x80"s,      // a second byte alone
                                   "\xc0\xaf"s,  // overlong forms
                                   "\xc1\xbf"s,
                                   "\xe0\x9f\xbf"s,
                                   "\xf0\x8f\xbf\xbf"s,
                                   "\xed\xa0\x80"s,      // a surrogate
                                   "\xf4\x90\x80\x80"s,  // above U+10FFFF
                                   "\xf5\x80\x80\x80"s,
                                   "\xff"s,
                                   "\xc3"s,  // cut off
                                   "\xe2\x82"s,
                                   "\xc3("s,
                                   "\xe2\x82("s,
                                   "\0"s}) {
    EXPECT_EQ(first_no_text("ab" + bytes), 2U);
    EXPECT_EQ(first_no_text("ab" + bytes + "more"), 2U);
  }
}

TEST(LoadText, RefusesAFileThatIsNoTextAndSaysWhere) {
  const Folder folder;
  const auto latin = folder.write("latin.txt", "one line\nthe caf\xe9 is open\n");
  const auto binary = folder.write("image.png", "\x89PNG\r\n\x1a\n"s);
  const auto zeros = folder.write("zeros.txt", "a b\n\0\0"s);
  const auto empty = folder.write("empty.txt", "");

  EXPECT_EQ(usage_message([&] { load_text(latin.string(), "d"); }),
            latin.string() +
                ":2: byte 16 of the file, 0xe9, is no UTF-8 text; convert it (iconv -t UTF-8) if "
                "it is text");
  EXPECT_THAT(usage_message([&] { load_text(binary.string(), "d"); }),
              HasSubstr("image.png:1: byte 0 of the file, 0x89"));
  EXPECT_THAT(usage_message([&] { load_text(zeros.string(), "d"); }),
              HasSubstr("zeros.txt:2: byte 4 of the file, 0x00"));
  EXPECT_EQ(usage_message([&] { load_text(empty.string(), "d"); }),
            empty.string() + ": the file is empty; a text was expected");
}

TEST(LoadText, RefusesAHeldOutFileThatIsNoText) {
  const Folder folder;
  folder.write("wikitext-2/train.txt", " = A title =\n");
  folder.write("wikitext-2/test.txt", "");

  EXPECT_THAT(usage_message([&] { load_text("wikitext-2", folder.path()); }),
              HasSubstr("test.txt: the file is empty"));
}

TEST(LoadText, TakesTheRealTexts) {
  const std::filesystem::path data_dir = RESIDUUM_TEST_DATA;
  for (const char* name : {"wikitext-2", "tinyshakespeare"}) {
    if (!std::filesystem::exists(data_dir / name)) {
      GTEST_SKIP() << "no " << name << " in " << data_dir;
    }
    EXPECT_GT(load_text(name, data_dir).train.size(), 1'000'000U);
  }
}

}  // namespace
}  // namespace residuum
