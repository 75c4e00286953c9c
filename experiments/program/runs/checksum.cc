#include "experiments/program/runs/checksum.h"

#include <algorithm>
#include <fstream>
#include <vector>
#include <zlib.h>

#include "core/error.h"

namespace residuum {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20U;

}  // namespace

std::uint32_t checksum(std::uint32_t before, std::string_view bytes) {
  std::uint32_t sum = before;
  for (std::size_t begin = 0; begin < bytes.size(); begin += kPiece) {
    const auto chunk = bytes.substr(begin, kPiece);
    // The standard lets char alias every type, so characters may be read as bytes.
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast)
    const auto* const data = reinterpret_cast<const Bytef*>(chunk.data());
    sum = static_cast<std::uint32_t>(crc32(sum, data, static_cast<uInt>(chunk.size())));
  }
  return sum;
}

std::uint32_t GrowingSums::of(const std::filesystem::path& file, std::uint64_t bytes) {
  Known& known = known_[file];
  if (bytes < known.bytes) {
    known = {};
  }
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(known.bytes));
  std::vector<char> chunk(
      static_cast<std::size_t>(std::min<std::uint64_t>(bytes - known.bytes, kPiece)));
  while (known.bytes < bytes) {
    const auto size = std::min<std::uint64_t>(bytes - known.bytes, chunk.size());
    if (!stream.read(chunk.data(), static_cast<std::streamsize>(size))) {
      resource_error("cannot read {}", file.string());
    }
    known.sum = checksum(known.sum, {chunk.data(), static_cast<std::size_t>(size)});
    known.bytes += size;
  }
  return known.sum;
}

}  // namespace residuum
