#include "core/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace residuum {
namespace {

std::uint8_t byte_at(std::string_view bytes, std::size_t i) {
  return static_cast<std::uint8_t>(bytes[i]);
}

/// A form describes the UTF-8 characters that begin with one range of first bytes: how many bytes
/// they have, and which second bytes are allowed.
struct Form {
  std::uint8_t first_low = 0;
  std::uint8_t first_high = 0;
  std::size_t length = 0;
  std::uint8_t second_low = 0x80;
  std::uint8_t second_high = 0xbf;
};

// This is the table of well-formed sequences in the Unicode standard, without the zero byte.
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

/// Returns the code point of a well-formed character.
std::uint32_t code_point(std::string_view character) {
  constexpr std::array<std::uint8_t, 5> kLeadBits{0, 0x7f, 0x1f, 0x0f, 0x07};
  std::uint32_t code = byte_at(character, 0) & kLeadBits.at(character.size());
  for (std::size_t i = 1; i < character.size(); ++i) {
    code = code << 6U | (byte_at(character, i) & 0x3fU);
  }
  return code;
}

bool is_control(std::uint32_t code) {
  const auto lies_in = [code](std::uint32_t low, std::uint32_t high) {
    return code >= low && code <= high;
  };
  return code < 0x20 || lies_in(0x7f, 0x9f) ||         // C0, delete, C1
         lies_in(0x2028, 0x202e) ||                    // line ends, embeddings, overrides
         lies_in(0x2066, 0x2069) || code == 0x061c ||  // isolates, marks of direction
         code == 0x200e || code == 0x200f || code == 0xfeff;
}

std::string harmless_but(std::string_view text, std::string_view allowed) {
  std::string plain;
  plain.reserve(text.size());
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_character(text, at);
    const std::string_view character = text.substr(at, std::max<std::size_t>(1, length));
    const bool passes = allowed.find(character) != std::string_view::npos ||
                        (length > 0 && !is_control(code_point(character)));
    plain += passes ? character : "?";
    at += character.size();
  }
  return plain;
}

}  // namespace

std::size_t utf8_character(std::string_view bytes, std::size_t begin) {
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

std::optional<std::size_t> first_no_text(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t length = utf8_character(bytes, at);
    if (length == 0) {
      return at;
    }
    at += length;
  }
  return std::nullopt;
}

bool is_utf8(std::string_view bytes) { return !first_no_text(bytes); }

std::string harmless(std::string_view text) { return harmless_but(text, ""); }

std::string harmless_lines(std::string_view text) { return harmless_but(text, "\n\t"); }

std::string shortened(std::string_view text, std::size_t longest) {
  constexpr std::string_view kGap = " ... ";
  if (text.size() <= longest) {
    return std::string(text);
  }
  const auto is_inside = [text](std::size_t at) { return (byte_at(text, at) & 0xc0U) == 0x80U; };
  const std::size_t kept = longest - kGap.size();
  std::size_t begin = kept - kept / 4;
  while (begin > 0 && is_inside(begin)) {
    --begin;
  }
  std::size_t end = text.size() - kept / 4;
  while (end < text.size() && is_inside(end)) {
    ++end;
  }
  std::string result(text.substr(0, begin));
  return result.append(kGap).append(text.substr(end));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace residuum
