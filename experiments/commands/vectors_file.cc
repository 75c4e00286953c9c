#include "experiments/commands/vectors_file.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>

#include "core/error.h"
#include "objectives/data/npy.h"
#include "reports/tables/files.h"

namespace residuum {
namespace {

using Vectors = std::vector<std::vector<double>>;

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

double parse_number(std::string_view text,
                    const std::string& file,
                    std::size_t row,
                    std::size_t column) {
  std::string_view digits = trimmed(text);
  if (!digits.empty() && digits.front() == '+') {
    digits.remove_prefix(1);
  }
  double number = 0;
  const auto* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, number);
  require(result.ec == std::errc{} && result.ptr == end,
          "{}:{}: value {} is '{}', which is no number",
          file,
          row,
          column,
          digits);
  require(std::isfinite(number), "{}:{}: value {} is not finite", file, row, column);
  return number;
}

std::vector<double> parse_row(std::string_view line, const std::string& file, std::size_t row) {
  std::vector<double> numbers;
  for (;;) {
    const auto comma = line.find(',');
    numbers.push_back(parse_number(line.substr(0, comma), file, row, numbers.size() + 1));
    if (comma == std::string_view::npos) {
      return numbers;
    }
    line.remove_prefix(comma + 1);
  }
}

Vectors read_csv(std::string_view text, const std::string& file) {
  Vectors vectors;
  std::size_t row = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++row;
    if (line.empty()) {
      continue;
    }
    vectors.push_back(parse_row(line, file, row));
    require(vectors.back().size() == vectors.front().size(),
            "{}:{}: {} values, but the first row has {}",
            file,
            row,
            vectors.back().size(),
            vectors.front().size());
  }
  return vectors;
}

Vectors read_npy(std::string_view bytes, const std::string& file) {
  const NpyHeader header = parse_npy_header(bytes, file);
  const auto type = npy_type(header.type);
  const bool is_supported = type == NpyType::float32 || type == NpyType::float64;
  require(is_supported,
          "{}: type {} is not supported; save float32 or float64, little-endian",
          file,
          header.type);
  const auto shape = parse_npy_shape(header.shape);
  require(shape && shape->size() == 2, "{}: shape {} is not (P, d)", file, header.shape);
  const std::string_view data = bytes.substr(header.size);
  const std::size_t rows = shape->front();
  const std::size_t columns = shape->back();
  require(npy_entries(*shape, npy_width(*type), data.size()).has_value(),
          "{}: {} bytes of numbers do not make shape ({}, {})",
          file,
          data.size(),
          rows,
          columns);
  Vectors vectors(rows, std::vector<double>(columns));
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t position = header.by_column ? j * rows + i : i * columns + j;
      const double value = npy_number(*type, data, position);
      require(std::isfinite(value), "{}: entry ({}, {}) is not finite", file, i, j);
      vectors[i][j] = value;
    }
  }
  return vectors;
}

}  // namespace

void write_vectors(const std::filesystem::path& file,
                   std::span<const double> vectors,
                   std::size_t dimension) {
  const std::array shape{vectors.size() / dimension, dimension};
  std::string bytes = npy_header(NpyType::float64, shape);
  const std::size_t start = bytes.size();
  bytes.resize(start + vectors.size_bytes());
  std::memcpy(bytes.data() + start, vectors.data(), vectors.size_bytes());
  reports::write_file_atomically(file, bytes);
}

std::vector<std::vector<double>> read_vectors(const std::filesystem::path& file) {
  const std::string bytes = reports::read_file(file);
  const std::string name = file.string();
  auto vectors = file.extension() == ".npy" ? read_npy(bytes, name) : read_csv(bytes, name);
  require(!vectors.empty(), "{}: no vectors in the file", name);
  return vectors;
}

}  // namespace residuum
