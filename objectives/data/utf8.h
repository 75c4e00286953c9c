#pragma once
// Bytes are accepted as text if they are UTF-8 as in RFC 3629 (no overlong forms, no surrogates,
// nothing above U+10FFFF), without zero bytes.

#include <filesystem>
#include <string_view>

namespace residuum {

/// Throws a usage error that names file, line and byte unless the bytes are text.
void check_text(std::string_view bytes, const std::filesystem::path& file);

/// Throws a usage error that names the cure if a table of numbers begins with the byte order mark
/// of UTF-8 or UTF-16.
void refuse_byte_order_mark(std::string_view bytes, const std::filesystem::path& file);

}  // namespace residuum
