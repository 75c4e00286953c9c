#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "objectives/data/dataset.h"
#include "objectives/torch/images.h"

namespace residuum {
namespace {

using ::testing::ElementsAre;

ImageDataset two_channels() {
  ImageDataset images;
  images.channels = 2;
  images.height = 1;
  images.width = 2;
  images.classes = 2;
  //               first image           second image
  images.pixels = {0, 255, 51, 51, /**/ 255, 0, 51, 51};
  images.labels = {1, 0};
  return images;
}

TEST(ChannelMoments, AreThePopulationMomentsOfEachChannelScaledToOne) {
  ImageDataset images = two_channels();
  images.pixels = {0, 0, 255, 51, /**/ 0, 255, 255, 51};

  const auto moments = channel_moments(images);

  ASSERT_EQ(moments.size(), 2U);
  EXPECT_DOUBLE_EQ(moments[0].mean, 0.25);  // one pixel of four is 1
  EXPECT_DOUBLE_EQ(moments[0].deviation, std::sqrt(3.0) / 4);
  EXPECT_DOUBLE_EQ(moments[1].mean, 0.6);  // two of 1, two of 0.2
  EXPECT_DOUBLE_EQ(moments[1].deviation, 0.4);
}

TEST(ChannelMoments, OfAConstantChannelDoNotDivideByZero) {
  const auto moments = channel_moments(two_channels());

  EXPECT_DOUBLE_EQ(moments[1].mean, 0.2);
  EXPECT_EQ(moments[1].deviation, 1);
}

TEST(ImageBatches, AssembleTheSamplesInTheirOrderNormalisedPerChannel) {
  const ImageDataset images = two_channels();
  const ImageBatches batches(images, channel_moments(images));
  Batch<double> batch;

  batches.assemble(std::vector<std::uint32_t>{1, 0, 1}, nullptr, batch);

  EXPECT_THAT(batch.labels, ElementsAre(0, 1, 0));
  EXPECT_THAT(batch.pixels, ElementsAre(1, -1, 0, 0, /**/ -1, 1, 0, 0, /**/ 1, -1, 0, 0));
}

TEST(ImageBatches, ReuseABatchOfAnotherSize) {
  const ImageDataset images = two_channels();
  const ImageBatches batches(images, channel_moments(images));
  Batch<float> batch;
  batches.assemble(std::vector<std::uint32_t>{1, 0}, nullptr, batch);

  batches.assemble(std::vector<std::uint32_t>{0}, nullptr, batch);

  EXPECT_THAT(batch.labels, ElementsAre(1));
  EXPECT_THAT(batch.pixels, ElementsAre(-1, 1, 0, 0));
}

/// 6 x 5 pixels, all different and none of them black.
ImageDataset distinct_pixels() {
  ImageDataset images;
  images.height = 6;
  images.width = 5;
  images.classes = 1;
  for (std::uint8_t pixel = 1; pixel <= 30; ++pixel) {
    images.pixels.push_back(pixel);
  }
  images.labels = {0};
  return images;
}

/// The image in a black border of 4, cut out at (top, left), mirrored or not.
std::vector<double> cut_out(const ImageDataset& images, int top, int left, bool mirrored) {
  std::vector<std::vector<double>> framed(6 + 8, std::vector<double>(5 + 8));
  for (std::size_t i = 0; i < 30; ++i) {
    framed[4 + i / 5][4 + i % 5] = images.pixels[i];
  }
  std::vector<double> pixels;
  for (int y = 0; y < 6; ++y) {
    for (int x = 0; x < 5; ++x) {
      const int column = left + (mirrored ? 4 - x : x);
      pixels.push_back(framed[static_cast<std::size_t>(top + y)][static_cast<std::size_t>(column)]);
    }
  }
  return pixels;
}

TEST(ImageBatches, AugmentedAreCropsOfTheFramedImageMirroredOrNot) {
  const ImageDataset images = distinct_pixels();
  const ImageBatches batches(images, std::vector<ChannelMoments>{{.mean = 0, .deviation = 1}});
  Batch<double> batch;
  RandomStream random(1, Purpose::test, 0, 0);
  std::set<std::tuple<int, int, bool>> seen;
  for (int draw = 0; draw < 2000; ++draw) {
    batches.assemble(std::vector<std::uint32_t>{0}, &random, batch);
    for (double& pixel : batch.pixels) {
      pixel = std::round(pixel * 255);
    }
    int fitting = 0;
    for (int variant = 0; variant < 9 * 9 * 2; ++variant) {
      const std::tuple place{variant / 18, variant / 2 % 9, variant % 2 == 1};
      if (cut_out(images, std::get<0>(place), std::get<1>(place), std::get<2>(place)) ==
          batch.pixels) {
        ++fitting;
        seen.insert(place);
      }
    }
    ASSERT_EQ(fitting, 1) << draw;
  }
  EXPECT_EQ(seen.size(), 162U);  // 2000 draws miss one of them with probability 7e-4
}

}  // namespace
}  // namespace residuum
