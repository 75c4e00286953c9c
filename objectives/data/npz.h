#pragma once
// .npz is a ZIP archive of .npy arrays, as numpy.savez (stored) and numpy.savez_compressed (by
// deflate) write it. Its directory at the end names every member, its sizes and its CRC-32 (PKWARE,
// APPNOTE.TXT, section 4.3).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {

struct NpzMember {
  std::string name;   // without ".npy"
  std::string bytes;  // of the .npy array
};

/// Returns all members in the order of the directory, which is that in which they were saved.
/// Anything that is no such archive is a usage error that names file and member: sizes or places
/// beyond the file, members that share bytes, an encrypted member, another packing, a name twice or
/// without .npy, a wrong CRC-32, numbers after the packed end. An archive of 4 GiB or more is
/// refused; so are more than `limit` bytes of numbers.
std::vector<NpzMember> read_npz(std::string_view bytes,
                                const std::string& file,
                                std::size_t limit = std::size_t{8} << 30U);

}  // namespace residuum
