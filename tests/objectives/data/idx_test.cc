#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>

#include "objectives/data/image_files.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::HasSubstr;
using testing::usage_message;

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) {
    text.push_back(static_cast<char>(value));
  }
  return text;
}

// Two images of 2 x 3 pixels and their labels, by hand from the format's description.
std::string two_digits() {
  return bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3}) +
         bytes({0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255});
}

std::string two_labels() { return bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 0}); }

ImageDataset read(const std::string& images, const std::string& labels) {
  const Folder folder;
  return read_idx(folder.write("images", images), folder.write("labels", labels));
}

void expect_refused(const std::string& images,
                    const std::string& labels,
                    const std::string& expected) {
  EXPECT_THAT(usage_message([&] { read(images, labels); }), HasSubstr(expected));
}

TEST(Idx, ReadsImagesRowByRowWithTheirLabels) {
  const auto data = read(two_digits(), two_labels());

  EXPECT_EQ(data.rows(), 2U);
  EXPECT_EQ(data.channels, 1U);
  EXPECT_EQ(data.height, 2U);
  EXPECT_EQ(data.width, 3U);
  EXPECT_EQ(data.classes, 10);
  EXPECT_THAT(data.pixels, ElementsAre(0, 1, 2, 3, 4, 5, 250, 251, 252, 253, 254, 255));
  EXPECT_THAT(data.labels, ElementsAre(7, 0));
}

TEST(Idx, ReadsPackedFiles) {
  EXPECT_EQ(fingerprint(read(testing::gzip(two_digits()), testing::xz(two_labels()))),
            fingerprint(read(two_digits(), two_labels())));
}

TEST(Idx, RefusesWrongMagicNumbers) {
  expect_refused(two_labels() + two_labels(),
                 two_labels(),
                 "images: magic number 0x00000801; an IDX file of images");
  expect_refused(
      two_digits(), two_digits(), "labels: magic number 0x00000803; an IDX file of labels");
  expect_refused("1 1:0.5 2:0.25 3:1\n", two_labels(), "magic number 0x3120313a");
}

TEST(Idx, RefusesMissingAndExtraBytes) {
  expect_refused(two_digits().substr(0, 15), two_labels(), "images: only 15 bytes");
  expect_refused("", two_labels(), "images: only 0 bytes");
  expect_refused(two_digits().substr(0, 27),
                 two_labels(),
                 "images: 11 bytes follow the header, which says 2 ");
  expect_refused(two_digits() + "x", two_labels(), "images: 13 bytes follow the header");
  expect_refused(two_digits() + two_digits().substr(16, 6),
                 two_labels(),
                 "images: 18 bytes follow the header");
  expect_refused(
      two_digits(), two_labels().substr(0, 9), "labels: 1 bytes follow the header, which says 2 ");
  expect_refused(two_digits(), two_labels() + "x", "labels: 3 bytes follow the header");
  expect_refused(two_digits(), two_labels().substr(0, 5), "labels: only 5 bytes");
}

TEST(Idx, RefusesCountsThatDiffer) {
  expect_refused(
      two_digits(), bytes({0, 0, 8, 1, 0, 0, 0, 1, 7}), "labels: 1 labels for the 2 images of ");
}

TEST(Idx, RefusesSizesThatOverflowWhenMultiplied) {
  // 2^31 x 2^31 x 4 pixels is 2^64, which is 0 in 64 bits.
  const std::string header = bytes({0, 0, 8, 3, 0, 0, 0, 4, 128, 0, 0, 0, 128, 0, 0, 0});
  expect_refused(
      header, two_labels(), "images: 0 bytes follow the header, which says 4 images of 2147");
}

TEST(Idx, RefusesEmptyImages) {
  expect_refused(
      bytes({0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3}), two_labels(), "at least 1");
  expect_refused(
      bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3}), two_labels(), "at least 1");
}

TEST(Idx, RefusesALabelAboveNineWithItsPlace) {
  expect_refused(two_digits(),
                 bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 10}),
                 "labels: label 10 of sample 1 (byte 9); labels are 0 to 9");
}

}  // namespace
}  // namespace residuum
