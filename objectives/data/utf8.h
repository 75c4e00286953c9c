#pragma once
// Bytes are accepted as text if they are UTF-8 as in RFC 3629 (no overlong forms, no surrogates,
// nothing above U+10FFFF), without zero bytes.

#include <filesystem>
#include <string_view>

namespace residuum {

/// Throws a usage error that names file, line and byte unless the bytes are text.
void check_text(std::string_view bytes, const std::filesystem::path& file);

}  // namespace residuum
