#include "objectives/data/image_files.h"

#include <fmt/format.h>

#include <cassert>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/notes.h"
#include "objectives/data/byte_stream.h"

namespace residuum {
namespace {

struct Format {
  const char* content;
  std::uint32_t magic;  // two zero bytes, 0x08 for unsigned bytes, the number of dimensions
  std::size_t header;   // bytes: the magic number and one count per dimension
};

constexpr Format kImages{.content = "images", .magic = 0x00000803, .header = 16};
constexpr Format kLabels{.content = "labels", .magic = 0x00000801, .header = 8};
constexpr int kDigits = 10;

struct Images {
  std::size_t count = 0;
  std::size_t height = 0;
  std::size_t width = 0;
};

std::uint32_t big_endian(const std::string& bytes, std::size_t position) {
  std::uint32_t value = 0;
  for (std::size_t i = position; i < position + 4; ++i) {
    value = value << 8U | static_cast<std::uint8_t>(bytes[i]);
  }
  return value;
}

void check_header(const std::string& bytes, const std::string& name, const Format& format) {
  require(bytes.size() >= format.header,
          "{}: only {} bytes; an IDX file of {} starts with {} bytes of header",
          name,
          bytes.size(),
          format.content,
          format.header);
  require(big_endian(bytes, 0) == format.magic,
          "{}: magic number 0x{:08x}; an IDX file of {} starts with 0x{:08x}",
          name,
          big_endian(bytes, 0),
          format.content,
          format.magic);
}

Images read_image_header(const std::string& bytes, const std::string& name) {
  check_header(bytes, name, kImages);
  const Images images{.count = big_endian(bytes, 4),
                      .height = big_endian(bytes, 8),
                      .width = big_endian(bytes, 12)};
  require(images.count > 0 && images.height > 0 && images.width > 0,
          "{}: the header says {} images of {} x {}; each must be at least 1",
          name,
          images.count,
          images.height,
          images.width);
  // The check divides because a product of three untrusted numbers may overflow.
  const std::size_t body = bytes.size() - kImages.header;
  const std::size_t image = images.height * images.width;
  require(body % image == 0 && body / image == images.count,
          "{}: {} bytes follow the header, which says {} images of {} x {} bytes",
          name,
          body,
          images.count,
          images.height,
          images.width);
  return images;
}

std::vector<std::int32_t> read_labels(const std::string& bytes, const std::string& name) {
  check_header(bytes, name, kLabels);
  const std::size_t count = big_endian(bytes, 4);
  require(bytes.size() - kLabels.header == count,
          "{}: {} bytes follow the header, which says {} labels",
          name,
          bytes.size() - kLabels.header,
          count);
  std::vector<std::int32_t> labels;
  labels.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const int label = static_cast<std::uint8_t>(bytes[kLabels.header + i]);
    require(label < kDigits,
            "{}: label {} of sample {} (byte {}); labels are 0 to {}",
            name,
            label,
            i,
            kLabels.header + i,
            kDigits - 1);
    labels.push_back(label);
  }
  return labels;
}

}  // namespace

ImageDataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels) {
  const std::string bytes = read_bytes(images);
  const Images header = read_image_header(bytes, images.string());
  ImageDataset data;
  data.labels = read_labels(read_bytes(labels), labels.string());
  require(data.labels.size() == header.count,
          "{}: {} labels for the {} images of {}",
          labels.string(),
          data.labels.size(),
          header.count,
          images.string());
  data.name = data_file_name(images);
  data.height = header.height;
  data.width = header.width;
  data.classes = kDigits;
  data.pixels.assign(bytes.begin() + kImages.header, bytes.end());
  data.note = "labels 0 to 9";
  return data;
}

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
