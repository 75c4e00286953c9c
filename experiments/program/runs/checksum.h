#pragma once
// The checksum is gzip's CRC-32. It notices what a disk or a careless hand has changed; it is no
// signature.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

namespace residuum {

/// Returns the checksum of bytes that follow on those whose checksum is `before`; 0 for none
/// before.
std::uint32_t checksum(std::uint32_t before, std::string_view bytes);

/// GrowingSums takes checksums of the beginnings of files that grow. It does not read again what it
/// has summed up once.
class GrowingSums {
 public:
  /// Returns the checksum of the first `bytes` of the file, which must have them.
  std::uint32_t of(const std::filesystem::path& file, std::uint64_t bytes);

 private:
  struct Known {
    std::uint64_t bytes = 0;
    std::uint32_t sum = 0;
  };

  std::map<std::filesystem::path, Known> known_;
};

}  // namespace residuum
