#pragma once
// Keys of very many parts (a.b.c. ...). The parser of TOML calls itself for each of them, and a
// text of some ten thousand would end the stack.

#include <string>
#include <string_view>

namespace residuum {

/// More than any setting has.
inline constexpr int kMostKeyParts = 16;

/// Usage error that names file and line where a key of the TOML text has more parts. Strings and
/// comments are passed over; brackets are counted by the parser itself.
void refuse_long_keys(std::string_view text, const std::string& file);

}  // namespace residuum
