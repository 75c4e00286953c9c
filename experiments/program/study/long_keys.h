#pragma once
// A key of very many parts (a.b.c. ...) is refused. The parser of TOML calls itself for each part,
// and some ten thousand of them would exhaust the stack.

#include <string>
#include <string_view>

namespace residuum {

/// No setting has as many parts.
inline constexpr int kMostKeyParts = 16;

/// Throws a usage error that names file and line where a key of the TOML text has more parts.
/// Strings and comments are passed over; brackets are counted by the parser itself.
void refuse_long_keys(std::string_view text, const std::string& file);

}  // namespace residuum
