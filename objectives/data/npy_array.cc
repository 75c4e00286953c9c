#include "objectives/data/npy_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/dataset.h"
#include "objectives/data/npy.h"

namespace residuum {
namespace {

template <class Number>
Number whole_at(const char* numbers, std::size_t position) {
  Number number{};
  std::memcpy(&number, numbers + position * sizeof(Number), sizeof(Number));
  return number;
}

}  // namespace

NpyArray::Type NpyArray::type_of(const std::string& written, const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Type>, 6> kKnown{{{"'<f2'", Type::float16},
                                                                     {"'<f4'", Type::float32},
                                                                     {"'<f8'", Type::float64},
                                                                     {"'|u1'", Type::uint8},
                                                                     {"'<i4'", Type::int32},
                                                                     {"'<i8'", Type::int64}}};
  const auto* const found = std::find_if(
      kKnown.begin(), kKnown.end(), [&](const auto& known) { return known.first == written; });
  require(found != kKnown.end(),
          "{}: type {} is not supported; save float16, float32, float64, uint8, int32 or int64, "
          "little-endian",
          name,
          written);
  return found->second;
}

std::size_t NpyArray::width_of(Type type) {
  switch (type) {
    case Type::uint8:
      return 1;
    case Type::float16:
      return 2;
    case Type::float32:
    case Type::int32:
      return 4;
    case Type::float64:
    case Type::int64:
      break;
  }
  return 8;
}

NpyArray::NpyArray(std::string bytes, const std::string& name) : bytes_(std::move(bytes)) {
  const NpyHeader header = parse_npy_header(bytes_, name);
  type_ = type_of(header.type, name);
  start_ = header.size;
  auto shape = parse_npy_shape(header.shape);
  require(shape.has_value(),
          "{}: shape {} has no first dimension, that of the samples",
          name,
          header.shape);
  shape_ = std::move(*shape);
  require(npy_entries(shape_, width_of(type_), bytes_.size() - start_).has_value(),
          "{}: {} bytes of numbers do not make shape {}",
          name,
          bytes_.size() - start_,
          header.shape);
  require(!header.by_column || shape_.size() < 2,
          "{}: is in Fortran order; save numpy.ascontiguousarray of it",
          name);
  per_sample_ =
      std::accumulate(shape_.begin() + 1, shape_.end(), std::size_t{1}, std::multiplies<>());
  check_numbers(name);
}

void NpyArray::check_numbers(const std::string& name) const {
  if (is_whole() || is_byte()) {
    return;
  }
  const std::size_t count = samples() * per_sample_;
  for (std::size_t i = 0; i < count; ++i) {
    require(std::isfinite(number(i)),
            "{}: entry {} of row {} is {}; all numbers must be finite",
            name,
            i % per_sample_,
            i / per_sample_,
            number(i));
  }
}

std::vector<std::int64_t> NpyArray::sample_shape() const {
  return {shape_.begin() + 1, shape_.end()};
}

double NpyArray::number(std::size_t position) const {
  const std::string_view numbers = std::string_view(bytes_).substr(start_);
  switch (type_) {
    case Type::float16:
      return npy_number(NpyType::float16, numbers, position);
    case Type::float32:
      return npy_number(NpyType::float32, numbers, position);
    case Type::float64:
      return npy_number(NpyType::float64, numbers, position);
    case Type::uint8:
    case Type::int32:
    case Type::int64:
      break;
  }
  return static_cast<double>(whole_number(position));
}

std::int64_t NpyArray::whole_number(std::size_t position) const {
  assert(is_whole() || is_byte());
  const char* const numbers = bytes_.data() + start_;
  if (type_ == Type::uint8) {
    return whole_at<std::uint8_t>(numbers, position);
  }
  return type_ == Type::int32 ? whole_at<std::int32_t>(numbers, position)
                              : whole_at<std::int64_t>(numbers, position);
}

std::string NpyArray::fingerprint() const {
  return residuum::fingerprint(
      fmt::format("{} {} {}",
                  static_cast<int>(type_),
                  fmt::join(shape_, "x"),
                  residuum::fingerprint(std::string_view(bytes_).substr(start_))));
}

NpyArray read_npy_array(const std::filesystem::path& file) {
  return {read_bytes(file), file.string()};
}

}  // namespace residuum
