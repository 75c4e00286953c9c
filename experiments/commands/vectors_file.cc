#include "experiments/commands/vectors_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.h"
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

/// The values of the three keys that a .npy header must have, as they are written.
struct NpyDictionary {
  std::string_view descr;
  std::string_view fortran_order;
  std::string_view shape;
};

/// Returns where the value at the front of `text` ends: at a comma outside of parentheses and
/// quotes.
std::size_t end_of_value(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  std::size_t end = 0;
  for (; end < text.size() && (text[end] != ',' || depth > 0 || quoted); ++end) {
    quoted = quoted != (text[end] == '\'');
    depth += text[end] == '(' ? 1 : (text[end] == ')' ? -1 : 0);
  }
  return end;
}

/// Reads {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }: each key once, in any order,
/// no other key, and nothing but blanks behind the brace.
NpyDictionary parse_dictionary(std::string_view header, const std::string& file) {
  NpyDictionary dictionary;
  const std::array<std::pair<std::string_view, std::string_view*>, 3> places{
      {{"'descr':", &dictionary.descr},
       {"'fortran_order':", &dictionary.fortran_order},
       {"'shape':", &dictionary.shape}}};
  std::string_view rest = trimmed(header);
  require(rest.starts_with('{') && rest.ends_with('}'),
          "{}: the .npy header is not one dictionary: {}",
          file,
          rest);
  rest = trimmed(rest.substr(1, rest.size() - 2));
  while (!rest.empty()) {
    const auto* const place = std::find_if(places.begin(), places.end(), [&](const auto& known) {
      return rest.starts_with(known.first) && known.second->empty();
    });
    require(
        place != places.end(), "{}: the .npy header has an unknown or doubled key: {}", file, rest);
    rest.remove_prefix(place->first.size());
    const std::size_t end = end_of_value(rest);
    *place->second = trimmed(rest.substr(0, end));
    require(!place->second->empty(), "{}: {} has no value in the .npy header", file, place->first);
    rest = trimmed(rest.substr(std::min(end + 1, rest.size())));
  }
  for (const auto& [key, value] : places) {
    require(!value->empty(), "{}: the .npy header has no {}", file, key.substr(0, key.size() - 1));
  }
  return dictionary;
}

struct NpyShape {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

std::optional<std::size_t> parse_size(std::string_view text) {
  const std::string_view digits = trimmed(text);
  std::size_t size = 0;
  const auto* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, size);
  return result.ec == std::errc{} && result.ptr == end ? std::optional(size) : std::nullopt;
}

/// "(2, 3)", as Python writes a pair of whole numbers.
NpyShape parse_shape(std::string_view text, const std::string& file) {
  const auto comma = text.find(',');
  const bool is_pair =
      text.starts_with('(') && text.ends_with(')') && comma != std::string_view::npos;
  const auto rows = is_pair ? parse_size(text.substr(1, comma - 1)) : std::nullopt;
  const auto columns =
      is_pair ? parse_size(text.substr(comma + 1, text.size() - comma - 2)) : std::nullopt;
  require(rows && columns, "{}: shape {} is not (P, d)", file, text);
  return {.rows = *rows, .columns = *columns};
}

bool parse_flag(std::string_view text, std::string_view key, const std::string& file) {
  require(text == "True" || text == "False",
          "{}: {} is {} in the .npy header, not True or False",
          file,
          key,
          text);
  return text == "True";
}

template <class Real>
double element(std::string_view data, std::size_t position) {
  Real value = 0;
  std::memcpy(&value, data.data() + position * sizeof(Real), sizeof(Real));
  return static_cast<double>(value);
}

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::size_t kNpyPreamble = 10;

struct NpyHeader {
  std::string_view dictionary;
  std::string_view data;
};

/// The format is magic, version, header length, header as a Python dictionary, then the numbers
/// (NumPy Enhancement Proposal 1).
NpyHeader split_npy(std::string_view bytes, const std::string& file) {
  require(bytes.size() >= kNpyPreamble && bytes.substr(0, kNpyMagic.size()) == kNpyMagic,
          "{}: no .npy file",
          file);
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  require(byte(6) >= 1 && byte(6) <= 3, "{}: version {} of .npy is not known", file, byte(6));
  const bool is_v1 = byte(6) == 1;
  const std::size_t start = is_v1 ? kNpyPreamble : kNpyPreamble + 2;
  require(bytes.size() >= start, "{}: truncated .npy header", file);
  std::size_t length = byte(8) | byte(9) << 8;
  if (!is_v1) {
    length |= byte(10) << 16 | byte(11) << 24;
  }
  require(bytes.size() - start >= length, "{}: truncated .npy header", file);
  return {.dictionary = bytes.substr(start, length), .data = bytes.substr(start + length)};
}

Vectors read_npy(std::string_view bytes, const std::string& file) {
  const auto [header, data] = split_npy(bytes, file);
  const NpyDictionary dictionary = parse_dictionary(header, file);
  const std::string_view type = dictionary.descr;
  const bool is_float32 = type == "'<f4'";
  require(is_float32 || type == "'<f8'",
          "{}: type {} is not supported; save float32 or float64, little-endian",
          file,
          type);
  const bool by_column = parse_flag(dictionary.fortran_order, "fortran_order", file);
  const NpyShape shape = parse_shape(dictionary.shape, file);
  const std::size_t width = is_float32 ? sizeof(float) : sizeof(double);
  const bool fits = shape.rows > 0 && shape.columns > 0 &&
                    shape.rows <= data.size() / width / shape.columns &&
                    shape.rows * shape.columns * width == data.size();
  require(fits,
          "{}: {} bytes of numbers do not make shape ({}, {})",
          file,
          data.size(),
          shape.rows,
          shape.columns);
  Vectors vectors(shape.rows, std::vector<double>(shape.columns));
  for (std::size_t i = 0; i < shape.rows; ++i) {
    for (std::size_t j = 0; j < shape.columns; ++j) {
      const std::size_t position = by_column ? j * shape.rows + i : i * shape.columns + j;
      const double value =
          is_float32 ? element<float>(data, position) : element<double>(data, position);
      require(std::isfinite(value), "{}: entry ({}, {}) is not finite", file, i, j);
      vectors[i][j] = value;
    }
  }
  return vectors;
}

/// Writes version 1.0 with the numbers at a multiple of 64 bytes, as NumPy itself does.
std::string npy_preamble(std::size_t rows, std::size_t columns) {
  constexpr std::size_t kAlignment = 64;
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  const std::size_t unpadded = kNpyPreamble + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string preamble(kNpyMagic);
  preamble += '\x01';
  preamble += '\0';
  preamble += static_cast<char>(header.size() & 0xff);
  preamble += static_cast<char>(header.size() >> 8);
  return preamble + header;
}

}  // namespace

void write_vectors(const std::filesystem::path& file,
                   std::span<const double> vectors,
                   std::size_t dimension) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes = npy_preamble(vectors.size() / dimension, dimension);
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
