#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "core/notes.h"
#include "objectives/data/catalogue.h"
#include "objectives/data/image_files.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using testing::Folder;
using ::testing::HasSubstr;
using testing::usage_message;

/// A record whose colours are constant.
std::string record(char label, char red, char green, char blue) {
  return std::string(1, label) + std::string(1024, red) + std::string(1024, green) +
         std::string(1024, blue);
}

ImageDataset read(const std::vector<std::filesystem::path>& files) { return read_cifar10(files); }

TEST(Cifar10, ReadsLabelThenRedGreenAndBlueOfEveryRecordOfEveryFile) {
  const Folder folder;
  const auto one = folder.write("one.bin", record(3, 1, 2, 5) + record(9, '\xff', 0, 7));
  const auto two = folder.write("two.bin.xz", testing::xz(record(0, 8, 8, 8)));

  const auto data = read({one, two});

  EXPECT_THAT(data.labels, ::testing::ElementsAre(3, 9, 0));
  EXPECT_EQ(data.channels, 3U);
  EXPECT_EQ(data.height, 32U);
  EXPECT_EQ(data.width, 32U);
  EXPECT_EQ(data.classes, 10);
  ASSERT_EQ(data.pixels.size(), 3U * 3072);
  EXPECT_EQ(data.pixels[0], 1);
  EXPECT_EQ(data.pixels[1024], 2);
  EXPECT_EQ(data.pixels[3071], 5);
  EXPECT_EQ(data.pixels[3072], 255);
  EXPECT_EQ(data.pixels[2 * 3072], 8);
}

TEST(Cifar10, NamesAFileThatIsNotWholeRecordsAndItsSize) {
  const Folder folder;
  const auto whole = record(1, 1, 1, 1);
  const auto file = folder.write("short.bin", whole + whole.substr(0, 3072));

  EXPECT_EQ(usage_message([&] { read({file}); }),
            file.string() +
                ": 6145 bytes; a CIFAR-10 file is whole records of 3073 bytes, and here "
                "3072 are over");
  EXPECT_THAT(usage_message([&] { read({folder.write("empty.bin", "")}); }),
              HasSubstr("empty.bin: 0 bytes"));
}

TEST(Cifar10, NamesALabelThatIsNoClass) {
  const Folder folder;
  const auto file = folder.write("bad.bin", record(1, 1, 1, 1) + record(10, 1, 1, 1));

  EXPECT_EQ(usage_message([&] { read({file}); }),
            file.string() + ": label 10 of image 1 (byte 3073); labels are 0 to 9");
}

TEST(Cifar10, WarnsOfAFileThatIsShorterThanThePublishedOne) {
  const Folder folder;
  const auto cut = folder.write("data_batch_1.bin", record(1, 1, 1, 1));
  const auto own = folder.write("mine.bin", record(1, 1, 1, 1));
  std::vector<std::string> warnings;
  set_note_listener([&](NoteKind kind, const std::string& text) {
    EXPECT_EQ(kind, NoteKind::warning);
    warnings.push_back(text);
  });
  read({cut, own});
  set_note_listener({});
  EXPECT_THAT(warnings,
              ::testing::ElementsAre("less than the 10000 images of the published file in " +
                                     cut.string()));
}

TEST(Cifar10, IsFoundByNameWithTheTestFileThatIsThere) {
  const Folder folder;
  for (const char* number : {"1", "2", "3", "4", "5"}) {
    folder.write(std::string("cifar10/data_batch_") + number + ".bin",
                 record(*number - '0', 1, 1, 1));
  }
  EXPECT_THAT(load_images("cifar10", folder.path()).labels, ::testing::ElementsAre(1, 2, 3, 4, 5));
  EXPECT_FALSE(load_images_test("cifar10", folder.path()).has_value());

  folder.write("cifar10/test_batch.first1000.bin", record(6, 1, 1, 1));
  EXPECT_THAT(load_images_test("cifar10", folder.path())->labels, ::testing::ElementsAre(6));
  folder.write("cifar10/test_batch.bin", record(7, 1, 1, 1));
  EXPECT_THAT(load_images_test("cifar10", folder.path())->labels, ::testing::ElementsAre(7));
}

TEST(Cifar10, NamesTheBatchThatIsMissing) {
  const Folder folder;
  folder.write("cifar10/data_batch_1.bin", record(1, 1, 1, 1));

  EXPECT_THAT(
      usage_message([&] { load_images("cifar10", folder.path()); }),
      ::testing::AllOf(HasSubstr("data_batch_2.bin"), HasSubstr("experiments/fetch_data cifar10")));
}

}  // namespace
}  // namespace residuum
