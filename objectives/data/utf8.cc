#include "objectives/data/utf8.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "core/error.h"

namespace residuum {
namespace {

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

/// Characters by their first byte: how many bytes there are, and what the second may be.
struct Form {
  std::uint8_t first_low = 0;
  std::uint8_t first_high = 0;
  std::size_t length = 0;
  std::uint8_t second_low = 0x80;
  std::uint8_t second_high = 0xbf;
};

// The table of well-formed sequences in the Unicode standard, but for the zero byte.
constexpr auto kForms = std::to_array<Form>({
    {.first_low = 0x01, .first_high = 0x7f, .length = 1},
    {.first_low = 0xc2, .first_high = 0xdf, .length = 2},
    {.first_low = 0xe0, .first_high = 0xe0, .length = 3, .second_low = 0xa0},
    {.first_low = 0xe1, .first_high = 0xec, .length = 3},
    {.first_low = 0xed, .first_high = 0xed, .length = 3, .second_high = 0x9f},
    {.first_low = 0xee, .first_high = 0xef, .length = 3},
    {.first_low = 0xf0, .first_high = 0xf0, .length = 4, .second_low = 0x90},
    {.first_low = 0xf1, .first_high = 0xf3, .length = 4},
    {.first_low = 0xf4, .first_high = 0xf4, .length = 4, .second_high = 0x8f},
});

/// How many bytes the character has that begins there; 0 if none does.
std::size_t character_at(std::string_view bytes, std::size_t begin) {
  const std::uint8_t first = byte_at(bytes, begin);
  const auto* const form = std::find_if(kForms.begin(), kForms.end(), [first](const Form& f) {
    return first >= f.first_low && first <= f.first_high;
  });
  if (form == kForms.end() || begin + form->length > bytes.size()) {
    return 0;
  }
  for (std::size_t i = 1; i < form->length; ++i) {
    const std::uint8_t next = byte_at(bytes, begin + i);
    const std::uint8_t low = i == 1 ? form->second_low : 0x80;
    const std::uint8_t high = i == 1 ? form->second_high : 0xbf;
    if (next < low || next > high) {
      return 0;
    }
  }
  return form->length;
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
