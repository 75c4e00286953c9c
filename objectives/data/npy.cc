#include "objectives/data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <zlib.h>

#include "core/error.h"
#include "core/text.h"
#include "objectives/data/byte_stream.h"
#include "objectives/data/dataset.h"

namespace residuum {
namespace {

constexpr std::string_view kNpyMagic("\x93NUMPY", 6);
constexpr std::size_t kNpyPreamble = 10;

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
  rest = trimmed(rest.substr(key.size() + 1));
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
  std::string_view rest = trimmed(header);
  require(rest.starts_with('{') && rest.ends_with('}'),
          "{}: the .npy header is not one dictionary: {}",
          name,
          rest);
  rest = trimmed(rest.substr(1, rest.size() - 2));
  while (!rest.empty()) {
    const auto* const place = std::find_if(places.begin(), places.end(), [&](const auto& known) {
      return known.second->empty() && take_key(rest, known.first);
    });
    require(
        place != places.end(), "{}: the .npy header has an unknown or doubled key: {}", name, rest);
    const std::size_t end = end_of_value(rest);
    *place->second = trimmed(rest.substr(0, end));
    require(
        !place->second->empty(), "{}: '{}' has no value in the .npy header", name, place->first);
    rest = trimmed(rest.substr(std::min(end + 1, rest.size())));
  }
  for (const auto& [key, value] : places) {
    require(!value->empty(), "{}: the .npy header has no '{}'", name, key);
  }
  return dictionary;
}

std::optional<std::size_t> parse_size(std::string_view text) {
  std::string_view digits = trimmed(text);
  if (digits.ends_with('L')) {
    digits.remove_suffix(1);
  }
  return parsed<std::size_t>(digits);
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
  std::string_view rest = trimmed(text.substr(1, text.size() - 2));
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

namespace {

constexpr std::string_view kZipEnd("PK\5\6", 4);
constexpr std::string_view kZipEntry("PK\1\2", 4);
constexpr std::string_view kZipMember("PK\3\4", 4);
constexpr std::size_t kZipEndSize = 22;
constexpr std::size_t kZipEntrySize = 46;
constexpr std::size_t kZipMemberSize = 30;
constexpr std::uint32_t kIn64Bits = 0xffffffff;  // the number stands in an extra field

/// Little-endian numbers at places that the caller has checked.
std::uint32_t two_bytes(std::string_view bytes, std::size_t place) {
  return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[place])) |
         static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[place + 1])) << 8U;
}
std::uint32_t four_bytes(std::string_view bytes, std::size_t place) {
  return two_bytes(bytes, place) | two_bytes(bytes, place + 2) << 16U;
}

/// An entry of the directory.
struct ZipEntry {
  std::string name;
  std::uint32_t flags = 0;
  std::uint32_t method = 0;
  std::uint32_t crc = 0;
  std::size_t packed = 0;    // bytes
  std::size_t unpacked = 0;  // bytes
  std::size_t begin = 0;     // of the member, with its head
};

/// Returns where the record at the end begins. A comment of up to 65535 bytes may follow it.
std::size_t end_record(std::string_view bytes, const std::string& file) {
  const std::size_t place = bytes.rfind(kZipEnd);
  require(bytes.starts_with("PK") && place != std::string_view::npos &&
              bytes.size() - place >= kZipEndSize &&
              two_bytes(bytes, place + 20) == bytes.size() - place - kZipEndSize,
          "{}: is no .npz file, or it was cut off: it does not end as a ZIP archive does",
          file);
  return place;
}

/// Reads the entry at `place` and moves behind it.
ZipEntry read_entry(std::string_view directory, std::size_t& place, const std::string& file) {
  const std::string_view rest = directory.substr(place);
  const bool has_head = rest.size() >= kZipEntrySize && rest.starts_with(kZipEntry);
  require(has_head, "{}: its directory of members is damaged", file);
  const std::size_t name = two_bytes(rest, 28);
  const std::size_t size = kZipEntrySize + name + two_bytes(rest, 30) + two_bytes(rest, 32);
  require(size <= rest.size(), "{}: its directory of members is damaged", file);
  place += size;
  ZipEntry entry{.name = std::string(rest.substr(kZipEntrySize, name)),
                 .flags = two_bytes(rest, 8),
                 .method = two_bytes(rest, 10),
                 .crc = four_bytes(rest, 16),
                 .packed = four_bytes(rest, 20),
                 .unpacked = four_bytes(rest, 24),
                 .begin = four_bytes(rest, 42)};
  require(entry.packed != kIn64Bits && entry.unpacked != kIn64Bits && entry.begin != kIn64Bits,
          "{}: member '{}' is of 4 GiB or more; save it as .npy",
          file,
          entry.name);
  return entry;
}

std::vector<ZipEntry> read_directory(std::string_view bytes, const std::string& file) {
  const std::size_t end = end_record(bytes, file);
  const std::size_t count = two_bytes(bytes, end + 10);
  const std::size_t size = four_bytes(bytes, end + 12);
  const std::size_t begin = four_bytes(bytes, end + 16);
  require(begin != kIn64Bits, "{}: has 4 GiB or more; save the arrays as .npy", file);
  require(four_bytes(bytes, end + 4) == 0 && two_bytes(bytes, end + 8) == count,
          "{}: is a part of a divided archive",
          file);
  require(begin <= end && size == end - begin, "{}: its directory of members is damaged", file);
  const std::string_view directory = bytes.substr(begin, size);
  std::vector<ZipEntry> entries;
  std::size_t place = 0;
  for (std::size_t i = 0; i < count; ++i) {
    entries.push_back(read_entry(directory, place, file));
  }
  require(place == size, "{}: its directory has more than its {} members", file, count);
  return entries;
}

/// Returns the packed bytes of a member. The head in front of them has the same name.
std::string_view packed_bytes(std::string_view bytes,
                              const ZipEntry& entry,
                              const std::string& file) {
  const std::string_view rest = bytes.substr(std::min(entry.begin, bytes.size()));
  require(rest.size() >= kZipMemberSize && rest.starts_with(kZipMember),
          "{}: member '{}' does not lie within the file",
          file,
          entry.name);
  const std::size_t name = two_bytes(rest, 26);
  const std::size_t head = kZipMemberSize + name + two_bytes(rest, 28);
  require(head <= rest.size() && entry.packed <= rest.size() - head,
          "{}: member '{}' does not lie within the file",
          file,
          entry.name);
  require(rest.substr(kZipMemberSize, name) == entry.name,
          "{}: member '{}' has another name in front of its bytes",
          file,
          entry.name);
  return rest.substr(head, entry.packed);
}

/// Owns zlib's stream.
class Inflater {
 public:
  explicit Inflater(std::string_view packed) {
    // zlib does not promise to leave its input const, but does.
    stream_.next_in = reinterpret_cast<Bytef*>(  // NOLINT(*-reinterpret-cast)
        const_cast<char*>(packed.data()));       // NOLINT(*-const-cast)
    stream_.avail_in = static_cast<uInt>(packed.size());
    // Without a head of zlib's own, after the stream is filled in.
    // NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer)
    is_ready_ = inflateInit2(&stream_, -MAX_WBITS) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  Inflater(Inflater&&) = delete;
  Inflater& operator=(Inflater&&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Returns the unpacked bytes if they are `size` and end where the packed ones do, else nothing.
  std::optional<std::string> all(std::size_t size) {
    constexpr std::size_t kChunk = std::size_t{1} << 20U;
    std::string unpacked;
    int status = is_ready_ ? Z_OK : Z_MEM_ERROR;
    while (status == Z_OK && unpacked.size() <= size) {
      const std::size_t before = unpacked.size();
      unpacked.resize(before + std::min(kChunk, size + 1 - before));
      stream_.next_out =
          reinterpret_cast<Bytef*>(unpacked.data() + before);  // NOLINT(*-reinterpret-cast)
      stream_.avail_out = static_cast<uInt>(unpacked.size() - before);
      status = inflate(&stream_, Z_NO_FLUSH);
      unpacked.resize(unpacked.size() - stream_.avail_out);
    }
    const bool is_whole = status == Z_STREAM_END && stream_.avail_in == 0;
    return is_whole && unpacked.size() == size ? std::optional(std::move(unpacked)) : std::nullopt;
  }

 private:
  z_stream stream_{};
  bool is_ready_ = false;
};

std::string unpacked_bytes(std::string_view packed,
                           const ZipEntry& entry,
                           const std::string& file) {
  constexpr std::uint32_t kStored = 0;
  constexpr std::uint32_t kDeflated = 8;
  constexpr std::size_t kMostRatio = 1032;  // of deflate
  require(entry.method == kStored || entry.method == kDeflated,
          "{}: member '{}' is packed by method {}; use numpy.savez or numpy.savez_compressed",
          file,
          entry.name,
          entry.method);
  if (entry.method == kStored) {
    require(packed.size() == entry.unpacked,
            "{}: member '{}' has {} bytes in place of {}",
            file,
            entry.name,
            packed.size(),
            entry.unpacked);
    return std::string(packed);
  }
  require(entry.unpacked / kMostRatio <= packed.size(),
          "{}: member '{}' cannot have {} bytes in {} packed ones",
          file,
          entry.name,
          entry.unpacked,
          packed.size());
  std::optional<std::string> unpacked = Inflater(packed).all(entry.unpacked);
  require(unpacked.has_value(),
          "{}: member '{}' is damaged: it does not unpack to {} bytes",
          file,
          entry.name,
          entry.unpacked);
  return *std::move(unpacked);
}

NpzMember read_member(std::string_view bytes, const ZipEntry& entry, const std::string& file) {
  constexpr std::string_view kEnding = ".npy";
  constexpr std::uint32_t kEncrypted = 1;
  require(entry.name.size() > kEnding.size() && entry.name.ends_with(kEnding),
          "{}: member '{}' is no .npy array",
          file,
          entry.name);
  require((entry.flags & kEncrypted) == 0, "{}: member '{}' is encrypted", file, entry.name);
  NpzMember member{.name = entry.name.substr(0, entry.name.size() - kEnding.size()),
                   .bytes = unpacked_bytes(packed_bytes(bytes, entry, file), entry, file)};
  require(checksum(0, member.bytes) == entry.crc,
          "{}: member '{}' is damaged: its CRC-32 is another one",
          file,
          member.name);
  return member;
}

/// Members that share bytes could make a small file a large one.
void refuse_overlaps(std::vector<ZipEntry> entries, const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const ZipEntry& a, const ZipEntry& b) {
    return a.begin < b.begin;
  });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const ZipEntry& before = entries[i - 1];
    require(before.begin + kZipMemberSize + before.name.size() + before.packed <= entries[i].begin,
            "{}: members '{}' and '{}' share bytes",
            file,
            before.name,
            entries[i].name);
  }
}

}  // namespace

std::vector<NpzMember> read_npz(std::string_view bytes,
                                const std::string& file,
                                std::size_t limit) {
  const std::vector<ZipEntry> entries = read_directory(bytes, file);
  require(!entries.empty(), "{}: has no arrays", file);
  refuse_overlaps(entries, file);
  std::set<std::string> names;
  std::size_t size = 0;
  for (const ZipEntry& entry : entries) {
    require(names.insert(entry.name).second, "{}: has two members '{}'", file, entry.name);
    size += entry.unpacked;  // each is below 4 GiB, and there are at most 65535
    require(size <= limit, "{}: has more than {} bytes of numbers", file, limit);
  }
  std::vector<NpzMember> members;
  members.reserve(entries.size());
  for (const ZipEntry& entry : entries) {
    members.push_back(read_member(bytes, entry, file));
  }
  return members;
}

}  // namespace residuum
