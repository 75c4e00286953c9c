#include "objectives/torch/image_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "objectives/data/catalogue.h"
#include "objectives/data/synthetic.h"

namespace residuum {
namespace {

constexpr const char* kSyntheticImages = "synthetic-images";
constexpr std::int64_t kDefaultRows = 6000;
constexpr std::int64_t kMostRows = 1'000'000;          // 784 MB of pixels
constexpr std::size_t kTrainingRowsPerHeldOutRow = 6;  // as in MNIST
constexpr std::size_t kFewestHeldOutRows = 100;

ImageData synthetic_images(const Section& section, const ImageShape& shape) {
  const std::int64_t rows = section.integer("rows", kDefaultRows);
  require(rows >= 1 && rows <= kMostRows,
          "{} must be between 1 and {}, got {}",
          section.where("rows"),
          kMostRows,
          rows);
  const std::int64_t seed = section.integer("data_seed", 1);
  require(seed >= 0, "{} must not be negative, got {}", section.where("data_seed"), seed);
  TeacherModel model{.rows = static_cast<std::size_t>(rows),
                     .channels = shape.channels,
                     .height = shape.height,
                     .width = shape.width,
                     .classes = shape.classes,
                     .seed = static_cast<std::uint64_t>(seed)};
  ImageData data{.train = make_teacher_images(model), .test = std::nullopt};
  model.rows = std::max(model.rows / kTrainingRowsPerHeldOutRow, kFewestHeldOutRows);
  model.part = Part::held_out;
  data.test = make_teacher_images(model);
  return data;
}

/// Keeps the first `count` images; 0 keeps all.
void keep_first(std::int64_t count, const Section& section, ImageDataset& images) {
  require(count >= 0 && static_cast<std::uint64_t>(count) <= images.rows(),
          "{} must be between 1 and the {} training images of '{}', or 0 for all, got {}",
          section.where("train_samples"),
          images.rows(),
          images.name,
          count);
  const auto kept = static_cast<std::size_t>(count);
  if (kept == 0 || kept == images.rows()) {
    return;
  }
  images.note += fmt::format(
      "{}the first {} of {} images", images.note.empty() ? "" : "; ", kept, images.rows());
  images.pixels.resize(kept * images.features());
  images.labels.resize(kept);
}

}  // namespace

ImageData load_image_data(const Section& section,
                          const ObjectiveContext& context,
                          const ImageShape& synthetic) {
  const std::string name = section.text("data", kSyntheticImages);
  ImageData data = name == kSyntheticImages
                       ? synthetic_images(section, synthetic)
                       : ImageData{.train = load_images(name, context.data_dir),
                                   .test = load_images_test(name, context.data_dir)};
  keep_first(section.integer("train_samples", 0), section, data.train);
  return data;
}

}  // namespace residuum
