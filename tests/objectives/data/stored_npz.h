#pragma once
// A .npz of stored arrays, made here, for tests that have no numpy.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zlib.h>

namespace residuum {

/// Names without .npy, and the bytes of each array.
using NamedArrays = std::vector<std::pair<std::string, std::string>>;

inline std::string stored_npz(const NamedArrays& arrays) {
  const auto number = [](std::size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) {
      text += static_cast<char>(i < 8 ? value >> (8 * i) & 0xffU : 0);
    }
    return text;
  };
  std::string members;
  std::string directory;
  for (const auto& [name, bytes] : arrays) {
    const std::string file = name + ".npy";
    const auto crc = crc32_z(0,
                             reinterpret_cast<const Bytef*>(bytes.data()),
                             bytes.size());  // NOLINT(*-reinterpret-cast)
    const std::string sizes =  // of flags, packing and time, all 0; CRC, sizes, length of the name
        number(0, 8) + number(crc, 4) + number(bytes.size(), 4) + number(bytes.size(), 4) +
        number(file.size(), 2);
    directory += "PK\1\2" + number(20, 2) + number(20, 2) + sizes + number(0, 12) +
                 number(members.size(), 4) + file;
    members += "PK\3\4" + number(20, 2) + sizes + number(0, 2) + file + bytes;
  }
  return members + directory + "PK\5\6" + number(0, 4) + number(arrays.size(), 2) +
         number(arrays.size(), 2) + number(directory.size(), 4) + number(members.size(), 4) +
         number(0, 2);
}

}  // namespace residuum
