#include "objectives/torch/image_batches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "objectives/data/dataset.h"

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

  batches.assemble(std::vector<std::uint32_t>{1, 0, 1}, batch);

  EXPECT_THAT(batch.labels, ElementsAre(0, 1, 0));
  EXPECT_THAT(batch.pixels, ElementsAre(1, -1, 0, 0, /**/ -1, 1, 0, 0, /**/ 1, -1, 0, 0));
}

TEST(ImageBatches, ReuseABatchOfAnotherSize) {
  const ImageDataset images = two_channels();
  const ImageBatches batches(images, channel_moments(images));
  Batch<float> batch;
  batches.assemble(std::vector<std::uint32_t>{1, 0}, batch);

  batches.assemble(std::vector<std::uint32_t>{0}, batch);

  EXPECT_THAT(batch.labels, ElementsAre(1));
  EXPECT_THAT(batch.pixels, ElementsAre(-1, 1, 0, 0));
}

}  // namespace
}  // namespace residuum
