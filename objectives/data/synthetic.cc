#include "objectives/data/synthetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/elementary.h"
#include "core/error.h"
#include "core/random/random.h"

namespace residuum {
namespace {

// The key of a synthetic stream is (seed, part, sample); part 0 is the truth that all samples
// share.
constexpr std::uint32_t kTruth = 0;

RandomStream truth_stream(std::uint64_t seed, std::uint32_t number) {
  return {seed, Purpose::synthetic, kTruth, number};
}

RandomStream sample_stream(std::uint64_t seed, Part part, std::size_t sample) {
  return {seed,
          Purpose::synthetic,
          static_cast<std::uint32_t>(part),
          static_cast<std::uint32_t>(sample)};
}

void check_rows(std::size_t rows) {
  require(rows >= 1 && rows <= std::numeric_limits<std::uint32_t>::max(),
          "synthetic data: rows must lie in 1 .. 2^32-1, got {}",
          rows);
}

void check(const LogisticModel& model) {
  check_rows(model.rows);
  require(model.features >= 1 && model.features <= std::numeric_limits<std::uint32_t>::max(),
          "synthetic data: features must lie in 1 .. 2^32-1, got {}",
          model.features);
  require(model.nonzeros <= model.features,
          "synthetic data: {} nonzeros per row do not fit {} features",
          model.nonzeros,
          model.features);
  require(model.noise >= 0 && model.noise <= 0.5,
          "synthetic data: noise is a share of labels in [0, 0.5], got {}",
          model.noise);
  require(std::isfinite(model.signal) && model.signal >= 0,
          "synthetic data: signal must be finite and not negative, got {}",
          model.signal);
}

/// Draws a direction uniform on the sphere, with the length that gives x.truth its standard
/// deviation.
std::vector<double> make_truth(const LogisticModel& model, std::size_t nonzeros) {
  RandomStream random = truth_stream(model.seed, 0);
  std::vector<double> truth(model.features);
  std::generate(truth.begin(), truth.end(), [&] { return random.normal(); });
  const double norm = std::sqrt(std::inner_product(truth.begin(), truth.end(), truth.begin(), 0.0));
  const double share = static_cast<double>(nonzeros) / static_cast<double>(model.features);
  const double scale = model.signal / (std::sqrt(share) * norm);
  for (double& entry : truth) {
    entry *= scale;
  }
  return truth;
}

/// Draws `count` different columns of `features`, increasing, every choice equally likely, by
/// Floyd's sampling (Bentley and Floyd, CACM 1987).
std::vector<std::uint32_t> draw_columns(std::size_t count,
                                        std::size_t features,
                                        RandomStream& random) {
  std::vector<std::uint32_t> columns;
  columns.reserve(count);
  for (std::size_t largest = features - count; largest < features; ++largest) {
    const auto last = static_cast<std::uint32_t>(largest);
    const std::uint32_t drawn = random.below(last + 1);
    const auto place = std::lower_bound(columns.begin(), columns.end(), drawn);
    if (place != columns.end() && *place == drawn) {
      columns.push_back(last);  // larger than all so far
    } else {
      columns.insert(place, drawn);
    }
  }
  return columns;
}

void add_logistic_row(const LogisticModel& model,
                      const std::vector<std::uint32_t>& columns,
                      RandomStream& random,
                      LogisticData& out) {
  double margin = 0;
  for (const std::uint32_t column : columns) {
    const double value = random.normal();
    margin += value * out.truth[column];
    out.data.columns.push_back(column);
    out.data.values.push_back(value);
  }
  const bool is_positive = random.uniform() < 1 / (1 + elementary::exp(-margin));
  const bool is_flipped = random.uniform() < model.noise;
  out.data.labels.push_back(is_positive != is_flipped ? 1 : -1);
  out.data.row_begin.push_back(out.data.columns.size());
}

/// Returns for each feature the bound below which 32 random bits are ink, in a sample of this
/// class.
std::vector<std::uint32_t> ink_bounds(const GisetteModel& model, int label) {
  constexpr double kInk = 0.117750;
  RandomStream random = truth_stream(model.seed, 0);
  std::vector<std::uint32_t> bounds(model.features);
  for (std::size_t j = 0; j < bounds.size(); ++j) {
    const double sign = random.uniform() < 0.5 ? -label : label;
    const double share = kInk * (j % 2 == 0 ? 1 + sign * model.contrast : 1.0);
    bounds[j] = static_cast<std::uint32_t>(share * 0x1p32);
  }
  return bounds;
}

// A picture is a coarse grid of standard normal heights, read between its points.
constexpr std::size_t kGrid = 7;
using Picture = std::vector<double>;

Picture make_picture(std::uint64_t seed, std::size_t number) {
  RandomStream random = truth_stream(seed, static_cast<std::uint32_t>(number));
  Picture picture(kGrid * kGrid);
  std::generate(picture.begin(), picture.end(), [&] { return random.normal(); });
  return picture;
}

/// A GridPoint says between which grid points a place lies, and how far on the way to the higher
/// one.
struct GridPoint {
  std::size_t low = 0;
  double fraction = 0;
};

/// An axis has the pixels along one side of an image that is moved over the picture. Beyond its
/// edge the picture is constant.
struct Axis {
  std::size_t pixels;
  double shift;

  GridPoint at(std::size_t pixel) const {
    const double span = static_cast<double>(std::max<std::size_t>(pixels, 2) - 1);
    const double share = std::clamp((static_cast<double>(pixel) + shift) / span, 0.0, 1.0);
    const double place = share * (kGrid - 1);
    const std::size_t low = std::min(static_cast<std::size_t>(place), kGrid - 2);
    return {.low = low, .fraction = place - static_cast<double>(low)};
  }
};

double height_at(const Picture& picture, GridPoint y, GridPoint x) {
  const double* const upper = picture.data() + y.low * kGrid + x.low;
  const double* const lower = upper + kGrid;
  return std::lerp(std::lerp(upper[0], upper[1], x.fraction),
                   std::lerp(lower[0], lower[1], x.fraction),
                   y.fraction);
}

Picture mixed(Picture picture, const Picture& other, double weight) {
  for (std::size_t i = 0; i < picture.size(); ++i) {
    picture[i] = weight * picture[i] + (1 - weight) * other[i];
  }
  return picture;
}

std::uint8_t to_pixel(double brightness) {
  return static_cast<std::uint8_t>(std::lround(std::clamp(brightness, 0.0, 255.0)));
}

void add_image(const TeacherModel& model,
               const std::vector<Picture>& pictures,
               int label,
               RandomStream& random,
               ImageDataset& data) {
  constexpr double kMiddle = 127.5;
  constexpr double kContrast = 50;
  constexpr double kNoise = 40;
  constexpr double kShift = 2;
  const auto others = static_cast<std::uint32_t>(model.classes - 1);
  const auto classes = static_cast<std::size_t>(model.classes);
  const auto own = static_cast<std::size_t>(label);
  const auto other = (own + 1 + random.below(others)) % classes;
  const double weight = 0.5 + 0.5 * random.uniform();
  const Axis vertical{.pixels = model.height, .shift = kShift * (2 * random.uniform() - 1)};
  const Axis horizontal{.pixels = model.width, .shift = kShift * (2 * random.uniform() - 1)};
  for (std::size_t channel = 0; channel < model.channels; ++channel) {
    const std::size_t first = channel * classes;
    const Picture mixture = mixed(pictures[first + own], pictures[first + other], weight);
    for (std::size_t y = 0; y < model.height; ++y) {
      const GridPoint row = vertical.at(y);
      for (std::size_t x = 0; x < model.width; ++x) {
        const double height = height_at(mixture, row, horizontal.at(x));
        data.pixels.push_back(to_pixel(kMiddle + kContrast * height + kNoise * random.normal()));
      }
    }
  }
  data.labels.push_back(label);
}

}  // namespace

SparseDataset make_regression_data(const RegressionModel& model) {
  check({.rows = model.rows, .features = model.features});
  const std::vector<double> truth =
      make_truth({.features = model.features, .seed = model.seed, .signal = 1}, model.features);
  SparseDataset data;
  data.name = "synthetic-regression";
  data.features = model.features;
  for (std::size_t row = 0; row < model.rows; ++row) {
    RandomStream random = sample_stream(model.seed, model.part, row);
    double target = 0;
    for (std::size_t j = 0; j < model.features; ++j) {
      data.columns.push_back(static_cast<std::uint32_t>(j));
      data.values.push_back(random.normal());
      target += data.values.back() * truth[j];
    }
    data.targets.push_back(target + model.noise * random.normal());
    data.labels.push_back(0);
    data.row_begin.push_back(data.columns.size());
  }
  return data;
}

SparseDataset make_class_data(const ClassesModel& model) {
  check({.rows = model.rows, .features = model.features});
  const double scale = model.apart / std::sqrt(static_cast<double>(model.features));
  std::vector<double> centres(static_cast<std::size_t>(model.classes) * model.features);
  RandomStream truth = truth_stream(model.seed, 0);
  std::generate(centres.begin(), centres.end(), [&] { return scale * truth.normal(); });
  SparseDataset data;
  data.name = "synthetic-classes";
  data.features = model.features;
  for (int label = 0; label < model.classes; ++label) {
    data.class_labels.push_back(label);
  }
  for (std::size_t row = 0; row < model.rows; ++row) {
    RandomStream random = sample_stream(model.seed, model.part, row);
    const std::size_t label = row % static_cast<std::size_t>(model.classes);
    for (std::size_t j = 0; j < model.features; ++j) {
      data.columns.push_back(static_cast<std::uint32_t>(j));
      data.values.push_back(centres[label * model.features + j] + random.normal());
    }
    data.labels.push_back(static_cast<std::int32_t>(label));
    data.row_begin.push_back(data.columns.size());
  }
  return data;
}

LogisticData make_logistic_data(const LogisticModel& model) {
  check(model);
  const std::size_t nonzeros = model.nonzeros == 0 ? model.features : model.nonzeros;
  LogisticData out;
  out.truth = make_truth(model, nonzeros);
  out.data.name = "synthetic-logistic";
  out.data.features = model.features;
  out.data.note = "labels -1, +1";
  std::vector<std::uint32_t> columns(model.features);
  std::iota(columns.begin(), columns.end(), 0U);
  for (std::size_t row = 0; row < model.rows; ++row) {
    RandomStream random = sample_stream(model.seed, model.part, row);
    if (nonzeros < model.features) {
      columns = draw_columns(nonzeros, model.features, random);
    }
    add_logistic_row(model, columns, random, out);
  }
  return out;
}

SparseDataset make_gisette_twin(const GisetteModel& model) {
  check_rows(model.rows);
  require(model.contrast >= 0 && model.contrast <= 1,
          "synthetic data: contrast must lie in [0, 1], got {}",
          model.contrast);
  constexpr double kExponent = 0.316300;
  const std::array bounds{ink_bounds(model, -1), ink_bounds(model, 1)};
  SparseDataset data;
  data.name = "synthetic-gisette";
  data.features = model.features;
  data.note = "labels -1, +1";
  data.columns.reserve(model.rows * model.features);
  data.values.reserve(model.rows * model.features);
  for (std::size_t row = 0; row < model.rows; ++row) {
    RandomStream random = sample_stream(model.seed, model.part, row);
    const auto& ink = bounds[row % 2];
    for (std::size_t j = 0; j < model.features; ++j) {
      const bool is_ink = random.bits() < ink[j];
      const double value =
          is_ink ? 2 * elementary::power(1 - random.uniform(), kExponent) - 1 : -1.0;
      if (value != 0) {
        data.columns.push_back(static_cast<std::uint32_t>(j));
        data.values.push_back(value);
      }
    }
    data.labels.push_back(row % 2 == 0 ? -1 : 1);
    data.row_begin.push_back(data.columns.size());
  }
  return data;
}

ImageDataset make_teacher_images(const TeacherModel& model) {
  check_rows(model.rows);
  require(model.channels >= 1 && model.height >= 1 && model.width >= 1,
          "synthetic data: images of {} x {} x {} pixels have none",
          model.channels,
          model.height,
          model.width);
  require(model.classes >= 2, "synthetic data: {} classes; at least 2 are needed", model.classes);
  std::vector<Picture> pictures;
  for (std::size_t i = 0; i < model.channels * static_cast<std::size_t>(model.classes); ++i) {
    pictures.push_back(make_picture(model.seed, i));
  }
  ImageDataset data;
  data.name = "synthetic-images";
  data.channels = model.channels;
  data.height = model.height;
  data.width = model.width;
  data.classes = model.classes;
  data.note = fmt::format("labels 0 to {}", model.classes - 1);
  data.pixels.reserve(model.rows * data.features());
  for (std::size_t row = 0; row < model.rows; ++row) {
    RandomStream random = sample_stream(model.seed, model.part, row);
    const auto label = static_cast<int>(row % static_cast<std::size_t>(model.classes));
    add_image(model, pictures, label, random, data);
  }
  return data;
}

namespace {

constexpr std::uint32_t kLetters = 16;

/// Returns p ln p, and 0 at p = 0.
double p_log_p(double p) { return p > 0 ? p * elementary::log(p) : 0; }

}  // namespace

std::string make_markov_text(const MarkovModel& model) {
  require(model.order >= 0 && model.order <= 1,
          "synthetic text: order must lie in [0, 1], got {}",
          model.order);
  RandomStream random(model.seed, Purpose::synthetic, static_cast<std::uint32_t>(model.part), 0);
  std::string text;
  text.reserve(model.characters);
  std::uint32_t letter = random.below(kLetters);
  while (text.size() < model.characters) {
    text += static_cast<char>('a' + letter);
    letter = random.uniform() < model.order ? (letter + 1) % kLetters : random.below(kLetters);
  }
  return text;
}

double markov_entropy(double order) {
  const double other = (1 - order) / kLetters;
  return -p_log_p(order + other) - (kLetters - 1) * p_log_p(other);
}

}  // namespace residuum
