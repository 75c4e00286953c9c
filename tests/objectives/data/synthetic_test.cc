#include "objectives/data/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "tests/objectives/data/files.h"

namespace residuum {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::usage_message;

double margin(const LogisticData& made, std::size_t row) {
  double sum = 0;
  for (auto i = made.data.row_begin[row]; i < made.data.row_begin[row + 1]; ++i) {
    sum += made.data.values[i] * made.truth[made.data.columns[i]];
  }
  return sum;
}

double norm_sq(const std::vector<double>& x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0);
}

TEST(LogisticData, HasTheShapeAskedFor) {
  const auto made = make_logistic_data({.rows = 5, .features = 3, .seed = 1});

  EXPECT_EQ(made.data.rows(), 5U);
  EXPECT_EQ(made.data.features, 3U);
  EXPECT_EQ(made.truth.size(), 3U);
  EXPECT_THAT(made.data.row_begin, ::testing::ElementsAre(0U, 3U, 6U, 9U, 12U, 15U));
  EXPECT_THAT(made.data.labels, Each(::testing::AnyOf(-1, 1)));
}

TEST(LogisticData, TruthHasTheLengthThatGivesMarginsTheirSignal) {
  // A margin is sum of truth_j x_j over the row's entries: variance |truth|^2 nonzeros / features.
  EXPECT_NEAR(norm_sq(make_logistic_data({.rows = 1, .features = 50}).truth), 9, 1e-12);
  EXPECT_NEAR(
      norm_sq(make_logistic_data({.rows = 1, .features = 50, .nonzeros = 10, .signal = 2}).truth),
      4 * 50 / 10.0,
      1e-12);
}

TEST(LogisticData, FeaturesAreStandardNormal) {
  const auto values = make_logistic_data({.rows = 1000, .features = 100}).data.values;
  const auto n = static_cast<double>(values.size());

  // Six standard errors; the variance of x^2 is 2.
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / n, 0, 6 / std::sqrt(n));
  EXPECT_NEAR(norm_sq(values) / n, 1, 6 * std::sqrt(2 / n));
}

/// Labels against their probabilities, in standard deviations, for margins of one sign at a time:
/// a truth that is too weak or too strong would shift both.
std::array<double, 2> calibration(const LogisticData& made, double noise) {
  std::array<double, 2> excess{};
  std::array<double, 2> variance{};
  for (std::size_t row = 0; row < made.data.rows(); ++row) {
    const double m = margin(made, row);
    const double clean = 1 / (1 + std::exp(-m));
    const double p = clean + noise * (1 - 2 * clean);
    const std::size_t side = m > 0 ? 1 : 0;
    excess.at(side) += (made.data.labels[row] == 1 ? 1 : 0) - p;
    variance.at(side) += p * (1 - p);
  }
  return {excess[0] / std::sqrt(variance[0]), excess[1] / std::sqrt(variance[1])};
}

TEST(LogisticData, LabelsFollowTheLogisticProbabilities) {
  const LogisticModel clean{.rows = 20000, .features = 20, .seed = 3};
  EXPECT_THAT(calibration(make_logistic_data(clean), 0),
              Each(::testing::AllOf(::testing::Gt(-6), ::testing::Lt(6))));
  LogisticModel noisy = clean;
  noisy.noise = 0.2;
  EXPECT_THAT(calibration(make_logistic_data(noisy), 0.2),
              Each(::testing::AllOf(::testing::Gt(-6), ::testing::Lt(6))));
  // The same test tells noise from none.
  EXPECT_GT(std::abs(calibration(make_logistic_data(noisy), 0)[0]), 6);
}

TEST(LogisticData, SparseRowsHaveDistinctIncreasingColumnsDrawnUniformly) {
  constexpr std::size_t kRows = 10000;
  const auto data = make_logistic_data({.rows = kRows, .features = 8, .nonzeros = 3}).data;

  std::array<int, 8> counts{};
  for (std::size_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(data.row_begin[row + 1] - data.row_begin[row], 3U);
    for (auto i = data.row_begin[row]; i < data.row_begin[row + 1]; ++i) {
      ASSERT_TRUE(i == data.row_begin[row] || data.columns[i - 1] < data.columns[i]);
      ++counts.at(data.columns[i]);
    }
  }
  const double p = 3.0 / 8;
  for (const int count : counts) {
    EXPECT_NEAR(count, kRows * p, 6 * std::sqrt(kRows * p * (1 - p)));
  }
}

TEST(LogisticData, MoreRowsLeaveTheFirstOnesAsTheyAre) {
  const auto few = make_logistic_data({.rows = 10, .features = 4, .seed = 5}).data;
  const auto many = make_logistic_data({.rows = 30, .features = 4, .seed = 5}).data;

  EXPECT_TRUE(std::equal(few.values.begin(), few.values.end(), many.values.begin()));
  EXPECT_TRUE(std::equal(few.labels.begin(), few.labels.end(), many.labels.begin()));
}

TEST(LogisticData, HeldOutPartSharesTheTruthAndNoSample) {
  const LogisticModel model{.rows = 200, .features = 4, .seed = 5};
  LogisticModel held_out = model;
  held_out.part = Part::held_out;
  const auto training = make_logistic_data(model);
  const auto test = make_logistic_data(held_out);

  EXPECT_EQ(training.truth, test.truth);
  const std::set<double> seen(training.data.values.begin(), training.data.values.end());
  EXPECT_TRUE(std::none_of(test.data.values.begin(), test.data.values.end(), [&](double value) {
    return seen.contains(value);
  }));
}

TEST(LogisticData, SeedsDiffer) {
  EXPECT_NE(fingerprint(make_logistic_data({.rows = 9, .features = 4, .seed = 1}).data),
            fingerprint(make_logistic_data({.rows = 9, .features = 4, .seed = 2}).data));
}

TEST(LogisticData, RefusesShapesThatCannotBe) {
  const auto refusal = [](const LogisticModel& model) {
    return usage_message([&] { make_logistic_data(model); });
  };
  EXPECT_THAT(refusal({.rows = 0, .features = 3}), HasSubstr("rows must lie in"));
  EXPECT_THAT(refusal({.rows = 3, .features = 0}), HasSubstr("features must lie in"));
  EXPECT_THAT(refusal({.rows = 3, .features = 3, .nonzeros = 4}), HasSubstr("4 nonzeros per row"));
  EXPECT_THAT(refusal({.rows = 3, .features = 3, .noise = 0.6}), HasSubstr("in [0, 0.5], got 0.6"));
  EXPECT_THAT(refusal({.rows = 3, .features = 3, .signal = -1}), HasSubstr("signal"));
}

TEST(TeacherImages, HaveTheShapeAskedForAndBalancedLabels) {
  const auto data = make_teacher_images({.rows = 25, .height = 5, .width = 7, .classes = 4});

  EXPECT_EQ(data.rows(), 25U);
  EXPECT_EQ(data.features(), 35U);
  EXPECT_EQ(data.pixels.size(), 25U * 35U);
  EXPECT_EQ(data.classes, 4);
  EXPECT_EQ(std::count(data.labels.begin(), data.labels.end(), 0), 7);
  for (const int label : {1, 2, 3}) {
    EXPECT_EQ(std::count(data.labels.begin(), data.labels.end(), label), 6);
  }
}

TEST(TeacherImages, AreAFunctionOfSeedPartAndNumber) {
  const TeacherModel model{.rows = 20, .seed = 4};
  TeacherModel longer = model;
  longer.rows = 30;
  TeacherModel other = model;
  other.seed = 5;
  const auto images = make_teacher_images(model);
  const auto more = make_teacher_images(longer);

  EXPECT_EQ(fingerprint(images), fingerprint(make_teacher_images(model)));
  EXPECT_NE(fingerprint(images), fingerprint(make_teacher_images(other)));
  EXPECT_TRUE(std::equal(images.pixels.begin(), images.pixels.end(), more.pixels.begin()));
}

std::set<std::vector<std::uint8_t>> distinct_images(const ImageDataset& data) {
  std::set<std::vector<std::uint8_t>> images;
  for (auto pixel = data.pixels.begin(); pixel != data.pixels.end();
       pixel += static_cast<std::ptrdiff_t>(data.features())) {
    images.emplace(pixel, pixel + static_cast<std::ptrdiff_t>(data.features()));
  }
  return images;
}

TEST(TeacherImages, HeldOutImagesAreNoneOfTheTrainingImages) {
  auto all = distinct_images(make_teacher_images({.rows = 300}));
  EXPECT_EQ(all.size(), 300U);

  all.merge(distinct_images(make_teacher_images({.rows = 300, .part = Part::held_out})));
  EXPECT_EQ(all.size(), 600U);
}

using ClassMeans = std::vector<std::vector<double>>;

ClassMeans class_means(const ImageDataset& data) {
  ClassMeans means(static_cast<std::size_t>(data.classes),
                   std::vector<double>(data.features(), 0.0));
  const double per_class = static_cast<double>(data.rows()) / data.classes;
  for (std::size_t row = 0; row < data.rows(); ++row) {
    auto& mean = means[static_cast<std::size_t>(data.labels[row])];
    for (std::size_t i = 0; i < data.features(); ++i) {
      mean[i] += data.pixels[row * data.features() + i] / per_class;
    }
  }
  return means;
}

std::int32_t nearest_class(const ClassMeans& means, const std::uint8_t* image) {
  double least = std::numeric_limits<double>::infinity();
  std::int32_t best = -1;
  for (std::size_t c = 0; c < means.size(); ++c) {
    double distance = 0;
    for (std::size_t i = 0; i < means[c].size(); ++i) {
      distance += (image[i] - means[c][i]) * (image[i] - means[c][i]);
    }
    if (distance < least) {
      least = distance;
      best = static_cast<std::int32_t>(c);
    }
  }
  return best;
}

TEST(TeacherImages, CanBeLearnt) {
  // The classifier that knows only the training images' class means is right on most held-out ones;
  // chance would be one in ten.
  const auto means = class_means(make_teacher_images({.rows = 1000}));
  const auto test = make_teacher_images({.rows = 500, .part = Part::held_out});
  int right = 0;
  for (std::size_t row = 0; row < test.rows(); ++row) {
    const auto* const image = test.pixels.data() + row * test.features();
    right += nearest_class(means, image) == test.labels[row] ? 1 : 0;
  }
  RecordProperty("right_of_500", right);
  EXPECT_GT(right, 250);
}

TEST(TeacherImages, OfSeveralChannelsHaveAPictureInEach) {
  const auto colour = make_teacher_images({.rows = 20, .channels = 3, .height = 32, .width = 32});

  EXPECT_EQ(colour.channels, 3U);
  EXPECT_EQ(colour.pixels.size(), 20U * 3 * 32 * 32);
  EXPECT_NE(std::vector(colour.pixels.begin(), colour.pixels.begin() + 1024),
            std::vector(colour.pixels.begin() + 1024, colour.pixels.begin() + 2048));
  // The first channel of the first picture of that size is the one without the others.
  const auto first = make_teacher_images({.rows = 1, .height = 32, .width = 32});
  EXPECT_TRUE(std::equal(first.pixels.begin(), first.pixels.end(), colour.pixels.begin()));
}

TEST(TeacherImages, OfOnePixelAreStillImages) {
  EXPECT_EQ(make_teacher_images({.rows = 4, .height = 1, .width = 1, .classes = 2}).pixels.size(),
            4U);
}

TEST(TeacherImages, RefuseShapesThatCannotBe) {
  const auto refusal = [](const TeacherModel& model) {
    return usage_message([&] { make_teacher_images(model); });
  };
  EXPECT_THAT(refusal({.rows = 0}), HasSubstr("rows must lie in"));
  EXPECT_THAT(refusal({.rows = 3, .height = 0}), HasSubstr("images of 1 x 0 x 28 pixels"));
  EXPECT_THAT(refusal({.rows = 3, .classes = 1}), HasSubstr("at least 2"));
}

/// lambda_max(A^T A) by power iteration from the vector of ones.
double largest_gram_eigenvalue(const SparseDataset& data) {
  std::vector<double> v(data.features, 1 / std::sqrt(static_cast<double>(data.features)));
  double eigenvalue = 0;
  for (int iteration = 0; iteration < 8; ++iteration) {
    std::vector<double> image(data.features);
    for (std::size_t row = 0; row < data.rows(); ++row) {
      double product = 0;
      for (auto i = data.row_begin[row]; i < data.row_begin[row + 1]; ++i) {
        product += data.values[i] * v[data.columns[i]];
      }
      for (auto i = data.row_begin[row]; i < data.row_begin[row + 1]; ++i) {
        image[data.columns[i]] += product * data.values[i];
      }
    }
    eigenvalue = std::sqrt(norm_sq(image));
    std::transform(image.begin(), image.end(), v.begin(), [&](double x) { return x / eigenvalue; });
  }
  return eigenvalue;
}

// The numbers that are published of gisette; power iteration converges like 1/1000 per step.
TEST(GisetteTwin, HasTheScaleOfGisette) {
  const auto data = make_gisette_twin({});

  ASSERT_EQ(data.rows(), 6000U);
  ASSERT_EQ(data.features, 5000U);
  EXPECT_EQ(std::count(data.labels.begin(), data.labels.end(), 1), 3000);
  EXPECT_GE(*std::min_element(data.values.begin(), data.values.end()), -1);
  EXPECT_LE(*std::max_element(data.values.begin(), data.values.end()), 1);
  EXPECT_NEAR(largest_gram_eigenvalue(data) / (4 * 6000), 842.868, 0.001 * 842.868);
  EXPECT_NEAR(norm_sq(data.values) / (4 * 6000), 1163.345, 0.001 * 1163.345);
}

TEST(GisetteTwin, HasMoreInkOrLessOnEverySecondFeatureOfAClass) {
  const auto data = make_gisette_twin({.rows = 20000, .features = 6, .contrast = 1});

  // With contrast 1 an informative feature has ink in one class alone: the other's entries are -1.
  std::vector<std::array<int, 2>> inked(6);
  for (std::size_t row = 0; row < data.rows(); ++row) {
    for (auto i = data.row_begin[row]; i < data.row_begin[row + 1]; ++i) {
      inked[data.columns[i]][row % 2] += data.values[i] > -1 ? 1 : 0;
    }
  }
  for (std::size_t j = 0; j < 6; ++j) {
    const auto [least, most] = std::minmax(inked[j][0], inked[j][1]);
    const double share = 0.11775 * (j % 2 == 0 ? 2 : 1);
    EXPECT_NEAR(most, 10000 * share, 5 * std::sqrt(10000 * share));
    EXPECT_NEAR(least, j % 2 == 0 ? 0 : 10000 * share, j % 2 == 0 ? 0 : 5 * std::sqrt(1178));
  }
}

TEST(GisetteTwin, SharesItsInkAndNoSampleWithTheHeldOutPart) {
  const auto train = make_gisette_twin({.rows = 50, .features = 40});
  const auto more = make_gisette_twin({.rows = 60, .features = 40});
  const auto held_out = make_gisette_twin({.rows = 50, .features = 40, .part = Part::held_out});

  EXPECT_NE(train.values, held_out.values);
  EXPECT_EQ(
      train.values,
      std::vector<double>(more.values.begin(),
                          more.values.begin() + static_cast<std::ptrdiff_t>(train.values.size())));
}

}  // namespace
}  // namespace residuum
