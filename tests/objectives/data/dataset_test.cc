#include "objectives/data/dataset.h"

#include <gtest/gtest.h>

#include "objectives/data/libsvm.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

constexpr const char* kText = "+1 1:0.5 3:-2\n-1 2:1\n";

ImageDataset two_images() {
  ImageDataset data;
  data.height = 1;
  data.width = 2;
  data.classes = 10;
  data.pixels = {0, 255, 7, 8};
  data.labels = {3, 9};
  return data;
}

// Both prints were computed by ten lines of Python from FNV's definition.
TEST(Fingerprint, OfSparseRowsIsFnv1aOverTheDocumentedBytes) {
  EXPECT_EQ(fingerprint(parse_libsvm(kText, "f")), "dd3795d75efd32e8");
}

TEST(Fingerprint, OfImagesIsFnv1aOverTheDocumentedBytes) {
  EXPECT_EQ(fingerprint(two_images()), "ace836015ab6c39a");
}

TEST(Fingerprint, IsTheSameFromPlainGzipAndXz) {
  const testing::Folder folder;

  const auto plain = fingerprint(read_libsvm(folder.write("d", kText)));
  EXPECT_EQ(fingerprint(read_libsvm(folder.write("d.gz", testing::gzip(kText)))), plain);
  EXPECT_EQ(fingerprint(read_libsvm(folder.write("d.xz", testing::xz(kText)))), plain);
}

TEST(Fingerprint, IgnoresNameNoteAndHowNumbersAreWritten) {
  auto data = parse_libsvm("1 1:5e-1 2:0 3:-2.0 # comment\n0 2:+1\n", "other");
  data.name = "another";

  EXPECT_EQ(fingerprint(data), "dd3795d75efd32e8");
}

TEST(Fingerprint, ChangesWithValueColumnLabelShapeAndRowEnd) {
  for (const char* other : {"+1 1:0.5 3:-2.0000001\n-1 2:1\n",
                            "+1 1:0.5 3:-2\n-1 1:1\n",
                            "-1 1:0.5 3:-2\n+1 2:1\n",
                            "+1 1:0.5 3:-2\n-1 2:1 4:0\n",
                            "+1 1:0.5\n-1 2:1 3:-2\n"}) {
    EXPECT_NE(fingerprint(parse_libsvm(other, "f")), "dd3795d75efd32e8") << other;
  }
  ImageDataset turned = two_images();
  turned.height = 2;
  turned.width = 1;
  EXPECT_NE(fingerprint(turned), fingerprint(two_images()));
}

}  // namespace
}  // namespace residuum
