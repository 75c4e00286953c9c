#include "objectives/data/cifar10.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/notes.h"
#include "objectives/data/byte_stream.h"

namespace residuum {
namespace {

constexpr std::size_t kSide = 32;
constexpr std::size_t kChannels = 3;
constexpr std::size_t kRecord = 1 + kChannels * kSide * kSide;
constexpr int kObjects = 10;
constexpr std::size_t kPublished = 10000;  // images of a data_batch file

/// Appends the images of a file and returns how many it has.
std::size_t add_file(const std::filesystem::path& path, ImageDataset& data) {
  const std::string bytes = read_bytes(path);
  const std::size_t rows = bytes.size() / kRecord;
  require(rows > 0 && bytes.size() % kRecord == 0,
          "{}: {} bytes; a CIFAR-10 file is whole records of {} bytes, and here {} are over",
          path.string(),
          bytes.size(),
          kRecord,
          bytes.size() % kRecord);
  data.labels.reserve(data.labels.size() + rows);
  data.pixels.reserve(data.pixels.size() + rows * (kRecord - 1));
  for (std::size_t row = 0; row < rows; ++row) {
    const auto record = bytes.begin() + static_cast<std::ptrdiff_t>(row * kRecord);
    const int label = static_cast<std::uint8_t>(*record);
    require(label < kObjects,
            "{}: label {} of image {} (byte {}); labels are 0 to {}",
            path.string(),
            label,
            row,
            row * kRecord,
            kObjects - 1);
    data.labels.push_back(label);
    data.pixels.insert(data.pixels.end(), record + 1, record + kRecord);
  }
  return rows;
}

bool is_part_of_the_published(const std::filesystem::path& path) {
  return path.filename().string().starts_with("data_batch_");
}

}  // namespace

ImageDataset read_cifar10(std::span<const std::filesystem::path> files) {
  assert(!files.empty());
  ImageDataset data;
  data.name = data_file_name(files.front());
  data.channels = kChannels;
  data.height = kSide;
  data.width = kSide;
  data.classes = kObjects;
  data.note = "labels 0 to 9";
  std::string shortened;
  for (const auto& file : files) {
    const std::size_t rows = add_file(file, data);
    if (is_part_of_the_published(file) && rows < kPublished) {
      shortened += fmt::format("{}{}", shortened.empty() ? "" : ", ", file.string());
    }
  }
  if (!shortened.empty()) {
    tell(NoteKind::warning,
         fmt::format("less than the {} images of the published file in {}", kPublished, shortened));
  }
  return data;
}

}  // namespace residuum
