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
constexpr int kClasses = 10;
constexpr std::size_t kPublished = 10000;  // images of a data_batch file

void add_file(const std::filesystem::path& path, ImageDataset& data) {
  const std::string bytes = read_bytes(path);
  const std::size_t rows = bytes.size() / kRecord;
  require(rows > 0 && bytes.size() % kRecord == 0,
          "{}: {} bytes; a CIFAR-10 file is whole records of {} bytes, and here {} are over",
          path.string(),
          bytes.size(),
          kRecord,
          bytes.size() % kRecord);
  if (path.filename().string().starts_with("data_batch_") && rows < kPublished) {
    tell(NoteKind::warning,
         fmt::format(
             "{} holds {} images; the published file has {}", path.string(), rows, kPublished));
  }
  data.labels.reserve(data.labels.size() + rows);
  data.pixels.reserve(data.pixels.size() + rows * (kRecord - 1));
  for (std::size_t row = 0; row < rows; ++row) {
    const auto record = bytes.begin() + static_cast<std::ptrdiff_t>(row * kRecord);
    const int label = static_cast<std::uint8_t>(*record);
    require(label < kClasses,
            "{}: label {} of image {} (byte {}); labels are 0 to {}",
            path.string(),
            label,
            row,
            row * kRecord,
            kClasses - 1);
    data.labels.push_back(label);
    data.pixels.insert(data.pixels.end(), record + 1, record + kRecord);
  }
}

}  // namespace

ImageDataset read_cifar10(std::span<const std::filesystem::path> files) {
  assert(!files.empty());
  ImageDataset data;
  data.name = data_file_name(files.front());
  data.channels = kChannels;
  data.height = kSide;
  data.width = kSide;
  data.classes = kClasses;
  data.note = "labels 0 to 9";
  for (const auto& file : files) {
    add_file(file, data);
  }
  return data;
}

}  // namespace residuum
