#include "objectives/data/byte_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using testing::Folder;
using testing::gzip;
using ::testing::HasSubstr;
using testing::usage_message;
using testing::xz;

std::string some_text() {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += std::to_string(i * 37 % 9973) + ' ';
  }
  return text;
}

// What `printf 'hello\n'` gives through the programs gzip -n and xz.
constexpr std::string_view kGzipHello(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06"
    "\x00\x00\x00",
    26);

TEST(ByteStream, ReadsWhatGzipTheProgramWrote) {
  EXPECT_EQ(unpack_bytes(std::string(kGzipHello), "hello", 100), "hello\n");
}

TEST(ByteStream, GivesTheSameBytesFromPlainGzipAndXz) {
  const Folder folder;
  const std::string text = some_text();

  EXPECT_EQ(read_bytes(folder.write("plain", text)), text);
  EXPECT_EQ(read_bytes(folder.write("packed.gz", gzip(text))), text);
  EXPECT_EQ(read_bytes(folder.write("packed.xz", xz(text))), text);
}

TEST(ByteStream, LooksAtTheContentAndNotAtTheName) {
  const Folder folder;

  EXPECT_EQ(read_bytes(folder.write("a.xz", gzip("gzip"))), "gzip");
  EXPECT_EQ(read_bytes(folder.write("a.gz", xz("xz"))), "xz");
  EXPECT_EQ(read_bytes(folder.write("b.gz", "plain")), "plain");
  EXPECT_EQ(read_bytes(folder.write("empty", "")), "");
}

TEST(ByteStream, ReadsSeveralArchivesOneAfterTheOther) {
  EXPECT_EQ(unpack_bytes(gzip("one ") + gzip("two"), "f", 100), "one two");
  EXPECT_EQ(unpack_bytes(xz("one ") + xz("two"), "f", 100), "one two");
}

TEST(ByteStream, RefusesAnArchiveCutAnywhere) {
  for (const std::string& whole : {gzip("some words, some words"), xz("some words, some words")}) {
    constexpr std::size_t kMagic = 6;
    for (std::size_t size = kMagic; size < whole.size(); ++size) {
      const auto message =
          usage_message([&] { unpack_bytes(whole.substr(0, size), "cut.file", 1000); });
      EXPECT_THAT(message, HasSubstr("cut.file: the archive is truncated")) << size;
    }
  }
}

TEST(ByteStream, RefusesAnArchiveWithAChangedBit) {
  for (const std::string& whole : {gzip(some_text()), xz(some_text())}) {
    std::string changed = whole;
    changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
    EXPECT_THAT(usage_message([&] { unpack_bytes(changed, "bad", 1U << 20U); }),
                HasSubstr("bad: the archive is corrupt"));
  }
}

TEST(ByteStream, RefusesBytesAfterTheArchive) {
  EXPECT_THAT(usage_message([] { unpack_bytes(gzip("a") + "garbage", "f", 100); }),
              HasSubstr("f: the archive is corrupt"));
  EXPECT_THAT(usage_message([] { unpack_bytes(xz("a") + "garbage, and more", "f", 100); }),
              HasSubstr("f: the archive is corrupt"));
}

TEST(ByteStream, StopsABombAtTheLimitAndNamesIt) {
  const std::string zeros(5'000'000, '\0');

  for (const std::string& bomb : {gzip(zeros), xz(zeros)}) {
    ASSERT_LT(bomb.size(), 10000U);
    EXPECT_EQ(unpack_bytes(bomb, "f", zeros.size()).size(), zeros.size());
    EXPECT_THAT(usage_message([&] { unpack_bytes(bomb, "f", zeros.size() - 1); }),
                HasSubstr("f: holds more than 4999999 bytes once unpacked"));
  }
}

TEST(ByteStream, HoldsPlainFilesToTheLimitToo) {
  const Folder folder;
  const auto file = folder.write("plain", "12345");

  EXPECT_EQ(read_bytes(file, 5), "12345");
  EXPECT_THAT(usage_message([&] { read_bytes(file, 4); }),
              HasSubstr("limit for one data file is 4"));
}

TEST(ByteStream, NamesTheMissingFileAndTheFolderTakenForOne) {
  const Folder folder;

  EXPECT_THAT(usage_message([&] { read_bytes(folder.path() / "none"); }),
              HasSubstr("none: no such file"));
  EXPECT_THAT(usage_message([&] { read_bytes(folder.path()); }), HasSubstr(": is a directory"));
  EXPECT_THAT(usage_message([&] { read_bytes("/dev/zero"); }), HasSubstr("not a regular file"));
  EXPECT_THAT(usage_message([&] { read_bytes(folder.write("file", "x") / "in"); }),
              HasSubstr("file/in"));
}

TEST(ByteStream, SaysWhyAFileCannotBeOpened) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may read every file";
  }
  const Folder folder;
  const auto file = folder.write("secret", "x");
  std::filesystem::permissions(file, std::filesystem::perms::none);

  EXPECT_THAT(usage_message([&] { read_bytes(file); }), HasSubstr("Permission denied"));
}

TEST(ByteStream, TellsHowToReadBzip2) {
  EXPECT_THAT(usage_message([] { unpack_bytes("BZh91AY&SY", "rcv1.bz2", 100); }),
              HasSubstr("rcv1.bz2: bzip2 files are not read; unpack it"));
}

TEST(ByteStream, DropsFolderAndPackingFromAName) {
  EXPECT_EQ(data_file_name("x/a9a.t.xz"), "a9a.t");
  EXPECT_EQ(data_file_name("mnist.gz"), "mnist");
  EXPECT_EQ(data_file_name("x/a9a.t"), "a9a.t");
}

}  // namespace
}  // namespace residuum
