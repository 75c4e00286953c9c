// The real files, where they are. The expected counts come from awk and from the data sets' own
// documentation, not from this reader.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "objectives/data/byte_stream.h"
#include "objectives/data/catalogue.h"
#include "objectives/data/libsvm.h"
#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

class RealData : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(data_dir())) {
      GTEST_SKIP() << "no real data in " << data_dir();
    }
  }

  static std::filesystem::path data_dir() { return RESIDUUM_TEST_DATA; }
};

std::ptrdiff_t positives(const SparseDataset& data) {
  return std::count(data.labels.begin(), data.labels.end(), 1);
}

void expect_shape(const SparseDataset& data,
                  const std::vector<std::size_t>& rows_features_entries_positives) {
  const auto positive = static_cast<std::size_t>(positives(data));
  EXPECT_THAT((std::vector<std::size_t>{data.rows(), data.features, data.values.size(), positive}),
              ::testing::ElementsAreArray(rows_features_entries_positives))
      << data.name;
}

TEST_F(RealData, A9aHasItsShapeAndItsTestFile) {
  const auto data = load_sparse("a9a", data_dir());

  expect_shape(data, {32561, 123, 451592, 7841});
  EXPECT_EQ(data.note, "labels -1, +1");
  EXPECT_THAT(data.values, ::testing::Each(1.0));
  const auto test = load_sparse_test("a9a", data_dir());
  ASSERT_TRUE(test.has_value());
  expect_shape(*test, {16281, 122, 225731, 3846});
}

TEST_F(RealData, MushroomsLabelsOneAndTwoAreMapped) {
  const auto data = load_sparse("mushrooms", data_dir());

  expect_shape(data, {8124, 112, 170604, 4208});
  EXPECT_EQ(data.note, "labels 1, 2 mapped to -1, +1");
  EXPECT_EQ(data.labels[0], -1);
  EXPECT_EQ(data.labels[1], 1);
}

TEST_F(RealData, MadelonIsDenseAndUnscaled) {
  const auto data = load_sparse("madelon", data_dir());

  expect_shape(data, {2000, 500, 999999, 1000});
  EXPECT_EQ(data.values[0], 485);
  expect_shape(load_sparse_test("madelon", data_dir()).value(), {600, 500, 300000, 300});
}

TEST_F(RealData, HeartScaleIsFoundByName) {
  expect_shape(load_sparse("heart_scale", data_dir()), {270, 13, 3378, 120});
}

TEST_F(RealData, Rcv1WithNamespacesHasUnitRows) {
  const auto data = load_sparse("rcv1-vw", data_dir());

  expect_shape(data, {1000, 47236, 77739, 459});
  EXPECT_EQ(data.name, "rcv1-vw");
  EXPECT_EQ(data.note, "labels -1, +1");
  expect_shape(load_sparse_test("rcv1-vw", data_dir()).value(), {500, 47042, 39448, 245});
  for (std::size_t row = 0; row < data.rows(); ++row) {
    double norm_sq = 0;
    for (auto i = data.row_begin[row]; i < data.row_begin[row + 1]; ++i) {
      norm_sq += data.values[i] * data.values[i];
    }
    ASSERT_NEAR(norm_sq, 1, 1e-5);  // values are printed with eight digits
  }
}

TEST_F(RealData, MnistHasItsDigits) {
  const auto train = load_images("mnist", data_dir());

  EXPECT_EQ(train.rows(), 60000U);
  EXPECT_EQ(train.height, 28U);
  EXPECT_EQ(train.width, 28U);
  std::vector<int> digits(10, 0);
  for (const std::int32_t label : train.labels) {
    ++digits.at(static_cast<std::size_t>(label));
  }
  EXPECT_THAT(digits,
              ::testing::ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
  // The mean brightness that everyone normalises MNIST by: 0.1307.
  const double sum = std::accumulate(train.pixels.begin(), train.pixels.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(train.pixels.size()) / 255, 0.1307, 0.00005);
}

TEST_F(RealData, MnistTestImagesAreTenThousand) {
  const auto test = load_images_test("mnist", data_dir());

  ASSERT_TRUE(test.has_value());
  EXPECT_EQ(test->rows(), 10000U);
  EXPECT_EQ(std::count(test->labels.begin(), test->labels.end(), 1), 1135);
}

TEST_F(RealData, Cifar10HasItsPhotographs) {
  const auto train = load_images("cifar10", data_dir());

  EXPECT_EQ(train.rows(), 50000U);
  std::vector<int> classes(10, 0);
  for (const std::int32_t label : train.labels) {
    ++classes.at(static_cast<std::size_t>(label));
  }
  EXPECT_THAT(classes, ::testing::Each(5000));
  // The means that everyone normalises CIFAR-10 by: 0.4914, 0.4822, 0.4465.
  std::vector<double> means(3);
  for (std::size_t i = 0; i < train.pixels.size(); ++i) {
    means.at(i / 1024 % 3) += train.pixels[i];
  }
  EXPECT_NEAR(means[0] / 50000 / 1024 / 255, 0.4914, 0.00005);
  EXPECT_NEAR(means[1] / 50000 / 1024 / 255, 0.4822, 0.00005);
  EXPECT_NEAR(means[2] / 50000 / 1024 / 255, 0.4465, 0.00005);
  EXPECT_GE(load_images_test("cifar10", data_dir())->rows(), 1000U);
}

TEST_F(RealData, WikiText2HasItsPublishedSizes) {
  const auto source = load_text("wikitext-2", data_dir());
  EXPECT_EQ(source.usual_level, TextLevel::word);

  const auto text = make_text(source, TextLevel::word, {});

  EXPECT_EQ(text.tokens.size(), 2088628U);
  EXPECT_EQ(text.held_out.size(), 245569U);
  EXPECT_EQ(text.vocabulary.size(), 33278U);
}

TEST_F(RealData, TinyShakespeareHasItsCharacters) {
  const auto text = make_text(load_text("tinyshakespeare", data_dir()), TextLevel::character, {});

  EXPECT_EQ(text.tokens.size() + text.held_out.size(), 1115394U);
  EXPECT_EQ(text.held_out.size(), 111539U);
  EXPECT_EQ(text.vocabulary.size(), 66U);  // 65 and <unk>
}

TEST_F(RealData, A9aHasTheSamePrintPlainAndPacked) {
  const testing::Folder folder;
  const std::string text = read_bytes(data_dir() / "a9a" / "a9a.xz");

  const auto print = fingerprint(load_sparse("a9a", data_dir()));
  EXPECT_EQ(fingerprint(read_libsvm(folder.write("plain", text))), print);
  EXPECT_EQ(fingerprint(read_libsvm(folder.write("a9a.gz", testing::gzip(text)))), print);
}

}  // namespace
}  // namespace residuum
