#pragma once
// The .npy format of arrays is magic, version, header length, header as a Python dictionary, then
// the numbers (NumPy Enhancement Proposal 1). These functions read and write its head; messages
// call the array `name`, which is a file or a place in a stream.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {

struct NpyHeader {
  std::string type;        // as it is written, in single quotes: '<f4'
  bool by_column = false;  // fortran_order
  std::string shape;       // as it is written: (2, 3)
  std::size_t size = 0;    // bytes in front of the first number
};

/// Returns how many bytes stand in front of the first number; absent while `bytes` are too few to
/// tell. Bytes that do not begin an array are a usage error.
std::optional<std::size_t> npy_header_size(std::string_view bytes, const std::string& name);

/// Reads the head at the front of `bytes`, with all blanks and both kinds of quotes that Python
/// allows. A head that is cut off or says anything but type, order and shape, each once, is a usage
/// error.
NpyHeader parse_npy_header(std::string_view bytes, const std::string& name);

/// Reads "(2, 3)", "(2, 3,)" or "(2,)", as Python writes whole numbers, and "(2L, 3L)", as Python 2
/// writes long ones; absent if it is something else.
std::optional<std::vector<std::size_t>> parse_npy_shape(std::string_view text);

/// Little-endian numbers that are read here.
enum class NpyType { float16, float32, float64, uint8 };

/// Returns the type that a head names; absent for any other.
std::optional<NpyType> npy_type(std::string_view written);
std::size_t npy_width(NpyType type);

/// Returns the number of this type at `position` of `data`.
double npy_number(NpyType type, std::string_view data, std::size_t position);

/// Makes a head of version 1.0 with the numbers at a multiple of 64 bytes, as NumPy itself does.
std::string npy_header(NpyType type, std::span<const std::size_t> shape);

/// Returns the product of the sizes, or nothing if it, times `width` bytes, is not `bytes`.
std::optional<std::size_t> npy_entries(std::span<const std::size_t> shape,
                                       std::size_t width,
                                       std::size_t bytes);

}  // namespace residuum
