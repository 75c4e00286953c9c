#pragma once
// Texts that came from files, command lines and other machines, and what of them may be shown.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace residuum {

/// How many bytes the UTF-8 character has that begins at `begin`; 0 if none does. The zero byte is
/// none.
std::size_t utf8_character(std::string_view bytes, std::size_t begin);

/// The first byte that belongs to no UTF-8 character; nothing where all do.
std::optional<std::size_t> first_no_text(std::string_view bytes);
bool is_utf8(std::string_view bytes);

/// The text on one line, as a terminal, a log or a page may show it: a '?' stands for every
/// character that controls a terminal (escape sequences, line ends, C1), for those that turn the
/// direction of writing, and for every byte that is no UTF-8.
std::string harmless(std::string_view text);

/// The same, but lines stay lines and tabs stay tabs.
std::string harmless_lines(std::string_view text);

}  // namespace residuum
