#pragma once
// An array of a .npy file in memory, as the inputs and labels of samples are given: its first
// dimension counts the samples.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace residuum {

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

}  // namespace residuum
