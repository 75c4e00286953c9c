#include "objectives/data/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace residuum {
namespace {

constexpr std::string_view kNpyBlanks = " \t\r\n";
constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::size_t kNpyPreamble = 10;

std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(kNpyBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kNpyBlanks) - first + 1);
}

/// The values of the three keys that a .npy header must have, as they are written.
struct NpyDictionary {
  std::string_view descr;
  std::string_view fortran_order;
  std::string_view shape;
};

bool is_quote(char c) { return c == '\'' || c == '"'; }

/// Returns the quote that is open behind `c` if `open` was before it; 0 stands for none.
char open_quote(char open, char c) {
  if (open != 0) {
    return c == open ? char{0} : open;
  }
  return is_quote(c) ? c : char{0};
}

/// Returns where the value at the front of `text` ends: at a comma outside of parentheses and
/// quotes.
std::size_t end_of_value(std::string_view text) {
  int depth = 0;
  char quote = 0;
  std::size_t end = 0;
  for (; end < text.size() && (text[end] != ',' || depth > 0 || quote != 0); ++end) {
    quote = open_quote(quote, text[end]);
    depth += text[end] == '(' ? 1 : (text[end] == ')' ? -1 : 0);
  }
  return end;
}

/// Takes `key`, in either kind of quotes, and a colon from the front of `text`; false if something
/// else stands there.
bool take_key(std::string_view& text, std::string_view key) {
  std::string_view rest = text;
  if (rest.empty() || !is_quote(rest.front())) {
    return false;
  }
  const char quote = rest.front();
  rest.remove_prefix(1);
  if (!rest.starts_with(key) || !rest.substr(key.size()).starts_with(quote)) {
    return false;
  }
  rest = without_blanks(rest.substr(key.size() + 1));
  if (!rest.starts_with(':')) {
    return false;
  }
  text = rest.substr(1);
  return true;
}

/// Reads {'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }: each key once, in any order,
/// no other key, and nothing but blanks behind the brace.
NpyDictionary parse_dictionary(std::string_view header, const std::string& name) {
  NpyDictionary dictionary;
  const std::array<std::pair<std::string_view, std::string_view*>, 3> places{
      {{"descr", &dictionary.descr},
       {"fortran_order", &dictionary.fortran_order},
       {"shape", &dictionary.shape}}};
  std::string_view rest = without_blanks(header);
  require(rest.starts_with('{') && rest.ends_with('}'),
          "{}: the .npy header is not one dictionary: {}",
          name,
          rest);
  rest = without_blanks(rest.substr(1, rest.size() - 2));
  while (!rest.empty()) {
    const auto* const place = std::find_if(places.begin(), places.end(), [&](const auto& known) {
      return known.second->empty() && take_key(rest, known.first);
    });
    require(
        place != places.end(), "{}: the .npy header has an unknown or doubled key: {}", name, rest);
    const std::size_t end = end_of_value(rest);
    *place->second = without_blanks(rest.substr(0, end));
    require(
        !place->second->empty(), "{}: '{}' has no value in the .npy header", name, place->first);
    rest = without_blanks(rest.substr(std::min(end + 1, rest.size())));
  }
  for (const auto& [key, value] : places) {
    require(!value->empty(), "{}: the .npy header has no '{}'", name, key);
  }
  return dictionary;
}

std::optional<std::size_t> parse_size(std::string_view text) {
  std::string_view digits = without_blanks(text);
  if (digits.ends_with('L')) {
    digits.remove_suffix(1);
  }
  std::size_t size = 0;
  const auto* const end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, size);
  return result.ec == std::errc{} && result.ptr == end ? std::optional(size) : std::nullopt;
}

/// Returns a type in single quotes, whichever it is written in; any other text as it is.
std::string in_single_quotes(std::string_view written) {
  const bool is_double = written.size() >= 2 && written.starts_with('"') && written.ends_with('"');
  return is_double ? fmt::format("'{}'", written.substr(1, written.size() - 2))
                   : std::string(written);
}

bool parse_flag(std::string_view text, std::string_view key, const std::string& name) {
  require(text == "True" || text == "False",
          "{}: {} is {} in the .npy header, not True or False",
          name,
          key,
          text);
  return text == "True";
}

std::size_t byte_at(std::string_view bytes, std::size_t position) {
  return static_cast<unsigned char>(bytes[position]);
}

/// Versions 2 and 3 have two bytes more for the length of the header.
bool is_first_version(std::string_view bytes) { return bytes[kNpyMagic.size()] == 1; }

std::size_t preamble_size(std::string_view bytes) {
  return is_first_version(bytes) ? kNpyPreamble : kNpyPreamble + 2;
}

struct NamedType {
  std::string_view written;
  NpyType type;
  std::size_t width;
};

constexpr std::array kTypes{
    NamedType{.written = "'<f2'", .type = NpyType::float16, .width = 2},
    NamedType{.written = "'<f4'", .type = NpyType::float32, .width = 4},
    NamedType{.written = "'<f8'", .type = NpyType::float64, .width = 8},
    NamedType{.written = "'|u1'", .type = NpyType::uint8, .width = 1},
};

const NamedType& named(NpyType type) {
  return *std::find_if(
      kTypes.begin(), kTypes.end(), [&](const auto& known) { return known.type == type; });
}

/// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of mantissa; exact in binary64.
double from_half(std::uint16_t bits) {
  constexpr int kMantissaBits = 10;
  constexpr int kBias = 15;
  constexpr int kLargestExponent = 31;
  const int exponent = (bits >> kMantissaBits) & kLargestExponent;
  const int mantissa = bits & ((1 << kMantissaBits) - 1);
  const double sign = (bits >> 15) != 0 ? -1.0 : 1.0;
  if (exponent == kLargestExponent) {
    return mantissa == 0 ? sign * HUGE_VAL : std::nan("");
  }
  const int whole = exponent == 0 ? mantissa : mantissa + (1 << kMantissaBits);
  return sign * std::ldexp(whole, std::max(exponent, 1) - kBias - kMantissaBits);
}

template <class Number>
Number number_at(std::string_view data, std::size_t position) {
  Number number{};
  std::memcpy(&number, data.data() + position * sizeof(Number), sizeof(Number));
  return number;
}

}  // namespace

std::optional<std::size_t> npy_header_size(std::string_view bytes, const std::string& name) {
  const auto seen = std::min(bytes.size(), kNpyMagic.size());
  require(bytes.substr(0, seen) == kNpyMagic.substr(0, seen), "{}: no .npy file", name);
  if (bytes.size() < kNpyPreamble) {
    return std::nullopt;
  }
  const std::size_t version = byte_at(bytes, kNpyMagic.size());
  require(version >= 1 && version <= 3, "{}: version {} of .npy is not known", name, version);
  const std::size_t start = preamble_size(bytes);
  if (bytes.size() < start) {
    return std::nullopt;
  }
  std::size_t length = byte_at(bytes, 8) | byte_at(bytes, 9) << 8;
  if (!is_first_version(bytes)) {
    length |= byte_at(bytes, 10) << 16 | byte_at(bytes, 11) << 24;
  }
  return start + length;
}

NpyHeader parse_npy_header(std::string_view bytes, const std::string& name) {
  require(bytes.size() >= kNpyPreamble, "{}: no .npy file", name);
  const auto size = npy_header_size(bytes, name);
  require(size && bytes.size() >= *size, "{}: truncated .npy header", name);
  const std::size_t start = preamble_size(bytes);
  const NpyDictionary dictionary = parse_dictionary(bytes.substr(start, *size - start), name);
  return {.type = in_single_quotes(dictionary.descr),
          .by_column = parse_flag(dictionary.fortran_order, "fortran_order", name),
          .shape = std::string(dictionary.shape),
          .size = *size};
}

std::optional<std::vector<std::size_t>> parse_npy_shape(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') {
    return std::nullopt;
  }
  std::string_view rest = without_blanks(text.substr(1, text.size() - 2));
  if (rest.ends_with(',')) {
    rest.remove_suffix(1);  // Python writes one number as "(2,)"
  }
  std::vector<std::size_t> shape;
  for (;;) {
    const auto end = rest.find(',');
    const auto size = parse_size(rest.substr(0, end));
    if (!size) {
      return std::nullopt;
    }
    shape.push_back(*size);
    if (end == std::string_view::npos) {
      return shape;
    }
    rest.remove_prefix(end + 1);
  }
}

std::optional<NpyType> npy_type(std::string_view written) {
  const auto* const found = std::find_if(
      kTypes.begin(), kTypes.end(), [&](const auto& known) { return known.written == written; });
  return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

std::size_t npy_width(NpyType type) { return named(type).width; }

double npy_number(NpyType type, std::string_view data, std::size_t position) {
  static_assert(std::endian::native == std::endian::little);
  switch (type) {
    case NpyType::float16:
      return from_half(number_at<std::uint16_t>(data, position));
    case NpyType::float32:
      return static_cast<double>(number_at<float>(data, position));
    case NpyType::float64:
      return number_at<double>(data, position);
    case NpyType::uint8:
      break;
  }
  return static_cast<double>(number_at<std::uint8_t>(data, position));
}

std::string npy_header(NpyType type, std::span<const std::size_t> shape) {
  constexpr std::size_t kAlignment = 64;
  const std::string sizes = shape.size() == 1 ? fmt::format("{},", shape.front())
                                              : fmt::format("{}", fmt::join(shape, ", "));
  std::string header = fmt::format(
      "{{'descr': {}, 'fortran_order': False, 'shape': ({}), }}", named(type).written, sizes);
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

std::optional<std::size_t> npy_entries(std::span<const std::size_t> shape,
                                       std::size_t width,
                                       std::size_t bytes) {
  const std::size_t most = bytes / width;
  std::size_t entries = 1;
  for (const std::size_t size : shape) {
    if (size == 0 || entries > most / size) {
      return std::nullopt;
    }
    entries *= size;
  }
  return entries * width == bytes ? std::optional(entries) : std::nullopt;
}

}  // namespace residuum
