#pragma once
// CRC-32 as gzip has it: notices what a disk or a careless hand has changed, is no signature.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string_view>

namespace residuum {

/// Of bytes that follow on those whose checksum is `before`; 0 for none before.
std::uint32_t checksum(std::uint32_t before, std::string_view bytes);

/// Checksums of the beginnings of files that grow. What was summed up once is not read again.
class GrowingSums {
 public:
  /// Of the first `bytes` of the file, which must have them.
  std::uint32_t of(const std::filesystem::path& file, std::uint64_t bytes);

 private:
  struct Known {
    std::uint64_t bytes = 0;
    std::uint32_t sum = 0;
  };

  std::map<std::filesystem::path, Known> known_;
};

}  // namespace residuum
