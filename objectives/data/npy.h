#pragma once
// The .npy format of arrays is magic, version, header length, header as a Python dictionary, then
// the numbers (NumPy Enhancement Proposal 1). These functions read and write its head; messages
// call the array `name`, which is a file or a place in a stream.

#include <cstddef>
#include <cstdint>
#include <filesystem>
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

// An array of a .npy file in memory, as the inputs and labels of samples are given: its first
// dimension counts the samples.

class NpyArray {
 public:
  /// Reads float16, float32, float64, uint8, int32 or int64, little-endian, in C order. Another
  /// type or order, numbers that do not make the shape, no numbers at all, and a number that is not
  /// finite are usage errors that name the file and the place.
  NpyArray(std::string bytes, const std::string& name);

  const std::vector<std::size_t>& shape() const { return shape_; }
  /// Returns the shape of one sample, without the first dimension.
  std::vector<std::int64_t> sample_shape() const;
  std::size_t samples() const { return shape_.front(); }
  std::size_t numbers_per_sample() const { return per_sample_; }
  /// True for int32 and int64: token numbers and classes. uint8 can be either.
  bool is_whole() const { return type_ == Type::int32 || type_ == Type::int64; }
  bool is_byte() const { return type_ == Type::uint8; }

  double number(std::size_t position) const;
  /// Returns a number of an array that is whole or of bytes.
  std::int64_t whole_number(std::size_t position) const;

  /// Tells contents apart: type, shape and numbers.
  std::string fingerprint() const;

 private:
  enum class Type { float16, float32, float64, uint8, int32, int64 };
  static Type type_of(const std::string& written, const std::string& name);
  static std::size_t width_of(Type type);
  void check_numbers(const std::string& name) const;

  std::string bytes_;
  std::size_t start_ = 0;  // of the numbers
  Type type_ = Type::float32;
  std::vector<std::size_t> shape_;
  std::size_t per_sample_ = 1;
};

/// Reads a file, which may be packed as data files may be (byte_stream.h).
NpyArray read_npy_array(const std::filesystem::path& file);

// .npz is a ZIP archive of .npy arrays, as numpy.savez (stored) and numpy.savez_compressed (by
// deflate) write it. Its directory at the end names every member, its sizes and its CRC-32 (PKWARE,
// APPNOTE.TXT, section 4.3).

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
