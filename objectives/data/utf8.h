#pragma once
// Whether bytes are text: UTF-8 as RFC 3629 has it (no overlong forms, no surrogates, nothing above
// U+10FFFF), without zero bytes.

#include <filesystem>
#include <string_view>

namespace residuum {

/// A usage error that names file, line and byte unless the bytes are text.
void check_text(std::string_view bytes, const std::filesystem::path& file);

}  // namespace residuum
