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
using testing::kPackers;
using testing::usage_message;
using testing::xz;

std::string some_text() {
  std::string text;
  for (int i = 0; i < 50000; ++i) {
    text += std::to_string(i * 37 % 9973) + ' ';
  }
  return text;
}

// The output of `printf 'hello\n'` through the programs gzip -n and xz.
constexpr std::string_view kGzipHello(
    "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06"
    "\x00\x00\x00",
    26);

TEST(ByteStream, ReadsWhatGzipTheProgramWrote) {
  EXPECT_EQ(unpack_bytes(std::string(kGzipHello), "hello", 100), "hello\n");
}

// The output of `printf 'hello\n'` through the programs bzip2 and zstd.
constexpr std::string_view kBzip2Hello(
    "\x42\x5a\x68\x39\x31\x41\x59\x26\x53\x59\xc1\xc0\x80\xe2\x00\x00\x01\x41\x00\x00\x10"
    "\x02\x44\xa0\x00\x30\xcd\x00\xc3\x46\x29\x97\x17\x72\x45\x38\x50\x90\xc1\xc0\x80\xe2",
    42);
constexpr std::string_view kZstdHello(
    "\x28\xb5\x2f\xfd\x04\x58\x31\x00\x00\x68\x65\x6c\x6c\x6f\x0a\x53\x88\xbd\x91", 19);

TEST(ByteStream, ReadsWhatBzip2AndZstdTheProgramsWrote) {
  EXPECT_EQ(unpack_bytes(std::string(kBzip2Hello), "hello", 100), "hello\n");
  EXPECT_EQ(unpack_bytes(std::string(kZstdHello), "hello", 100), "hello\n");
}

TEST(ByteStream, GivesTheSameBytesFromPlainAndPackedFiles) {
  const Folder folder;
  const std::string text = some_text();

  EXPECT_EQ(read_bytes(folder.write("plain", text)), text);
  for (const auto& packing : kPackers) {
    EXPECT_EQ(read_bytes(folder.write("packed", packing.pack(text))), text) << packing.ending;
  }
}

TEST(ByteStream, LooksAtTheContentAndNotAtTheName) {
  const Folder folder;

  EXPECT_EQ(read_bytes(folder.write("a.xz", gzip("gzip"))), "gzip");
  EXPECT_EQ(read_bytes(folder.write("a.gz", xz("xz"))), "xz");
  EXPECT_EQ(read_bytes(folder.write("b.gz", "plain")), "plain");
  EXPECT_EQ(read_bytes(folder.write("empty", "")), "");
}

TEST(ByteStream, ReadsSeveralArchivesOneAfterTheOther) {
  for (const auto& packing : kPackers) {
    const std::string both = packing.pack("one ") + packing.pack("two");
    EXPECT_EQ(unpack_bytes(both, "f", 100), "one two") << packing.ending;
  }
}

TEST(ByteStream, RefusesAnArchiveCutAnywhere) {
  for (const auto& packing : kPackers) {
    const std::string whole = packing.pack("some words, some words");
    constexpr std::size_t kMagic = 6;
    for (std::size_t size = kMagic; size < whole.size(); ++size) {
      const auto message =
          usage_message([&] { unpack_bytes(whole.substr(0, size), "cut.file", 1000); });
      EXPECT_THAT(message, HasSubstr("cut.file: the archive is truncated"))
          << packing.ending << size;
    }
  }
}

TEST(ByteStream, RefusesAnArchiveWithAChangedBit) {
  for (const auto& packing : kPackers) {
    const std::string whole = packing.pack(some_text());
    std::string changed = whole;
    changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
    EXPECT_THAT(usage_message([&] { unpack_bytes(changed, "bad", 1U << 20U); }),
                HasSubstr("bad: the archive is corrupt"));
  }
}

TEST(ByteStream, RefusesBytesAfterTheArchive) {
  for (const auto& packing : kPackers) {
    const std::string both = packing.pack("a") + "garbage, and more";
    EXPECT_THAT(usage_message([&] { unpack_bytes(both, "f", 100); }),
                HasSubstr("f: the archive is corrupt"))
        << packing.ending;
  }
}

TEST(ByteStream, StopsABombAtTheLimitAndNamesIt) {
  const std::string zeros(5'000'000, '\0');

  for (const auto& packing : kPackers) {
    const std::string bomb = packing.pack(zeros);
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

TEST(ByteStream, DropsFolderAndPackingFromAName) {
  EXPECT_EQ(data_file_name("x/a9a.t.xz"), "a9a.t");
  EXPECT_EQ(data_file_name("mnist.gz"), "mnist");
  EXPECT_EQ(data_file_name("rcv1_train.binary.bz2"), "rcv1_train.binary");
  EXPECT_EQ(data_file_name("a.zst"), "a");
  EXPECT_EQ(data_file_name("x/a9a.t"), "a9a.t");
}

}  // namespace
}  // namespace residuum
