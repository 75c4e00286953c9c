#include "objectives/data/idx.h"

#include <cstdint>
#include <string>

#include "core/error.h"
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

}  // namespace residuum
