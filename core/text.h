#pragma once
// Text from files, command lines and other machines is not trusted: these functions check that it
// is UTF-8 and make it safe to print.

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace residuum {

/// Returns the text without blanks, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// A number at the beginning of a text, and what follows it.
template <class Number>
struct LeadingNumber {
  Number number = 0;
  std::string_view rest;
};

/// Returns the number that the text begins with, as std::from_chars reads it; nothing if it begins
/// with none or with one that the type cannot hold.
template <class Number>
std::optional<LeadingNumber<Number>> leading_number(std::string_view text) {
  LeadingNumber<Number> found;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, found.number);
  found.rest = {stop, static_cast<std::size_t>(end - stop)};
  return error == std::errc() ? std::optional(found) : std::nullopt;
}

/// Returns the number that the whole of the text spells; nothing if it spells none.
template <class Number>
std::optional<Number> parsed(std::string_view text) {
  const auto found = leading_number<Number>(text);
  return found && found->rest.empty() ? std::optional(found->number) : std::nullopt;
}

/// Returns the length in bytes of the UTF-8 character that begins at `begin`, 0 if none begins
/// there. The zero byte does not count as a character.
std::size_t utf8_character(std::string_view bytes, std::size_t begin);

/// Returns the position of the first byte that belongs to no UTF-8 character, if there is one.
std::optional<std::size_t> first_no_text(std::string_view bytes);
bool is_utf8(std::string_view bytes);

/// Returns the text on one line, safe for a terminal, a log or a page: a '?' replaces every
/// character that controls a terminal (escape sequences, line ends, C1), every character that turns
/// the direction of writing, and every byte that is no UTF-8.
std::string harmless(std::string_view text);

/// Returns a text of at most `longest` bytes: the beginning and the end of a longer one, with " ...
/// " between them. No character is cut; `longest` is at least 100.
std::string shortened(std::string_view text, std::size_t longest);

/// Does the same as harmless(), but keeps line ends and tabs.
std::string harmless_lines(std::string_view text);

}  // namespace residuum
