#include "objectives/data/utf8.h"

#include <algorithm>
#include <cstdint>

#include "core/error.h"

namespace residuum {
namespace {

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

/// A character of several bytes by its first one: how many there are, and what the second may be.
struct Form {
  std::size_t length = 0;  // 0: no character begins like that
  std::uint8_t low = 0x80;
  std::uint8_t high = 0xbf;
};

Form form_of(std::uint8_t first) {
  if (first > 0 && first < 0x80) {
    return {.length = 1};
  }
  if (first >= 0xc2 && first <= 0xdf) {
    return {.length = 2};
  }
  if (first >= 0xe0 && first <= 0xef) {
    const std::uint8_t low = first == 0xe0 ? 0xa0 : 0x80;
    const std::uint8_t high = first == 0xed ? 0x9f : 0xbf;
    return {.length = 3, .low = low, .high = high};
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const std::uint8_t low = first == 0xf0 ? 0x90 : 0x80;
    const std::uint8_t high = first == 0xf4 ? 0x8f : 0xbf;
    return {.length = 4, .low = low, .high = high};
  }
  return {};
}

/// How many bytes the character has that begins there; 0 if none does.
std::size_t character_at(std::string_view bytes, std::size_t begin) {
  const Form form = form_of(byte_at(bytes, begin));
  if (begin + form.length > bytes.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < form.length; ++i) {
    const std::uint8_t next = byte_at(bytes, begin + i);
    const bool fits = i == 1 ? next >= form.low && next <= form.high : next >> 6 == 0b10;
    if (!fits) {
      return 0;
    }
  }
  return form.length;
}

}  // namespace

std::optional<std::size_t> first_no_text(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t length = character_at(bytes, at);
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return std::nullopt;
}

void check_text(std::string_view bytes, const std::filesystem::path& file) {
  require(!bytes.empty(), "{}: the file is empty; a text was expected", file.string());
  const auto bad = first_no_text(bytes);
  if (!bad) {
    return;
  }
  const auto line =
      1 + std::count(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(*bad), '\n');
  usage_error(
      "{}:{}: byte {} of the file, 0x{:02x}, is no UTF-8 text; convert it (iconv -t UTF-8) if it "
      "is text",
      file.string(),
      line,
      *bad,
      byte_at(bytes, *bad));
}

}  // namespace residuum
