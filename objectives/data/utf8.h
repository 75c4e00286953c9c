#pragma once
// Whether bytes are text: UTF-8 as RFC 3629 has it (no overlong forms, no surrogates, nothing above
// U+10FFFF), without zero bytes.

#include <filesystem>
#include <optional>
#include <string_view>

namespace residuum {

/// Where the first byte stands that does not belong to a text; absent if all do.
std::optional<std::size_t> first_no_text(std::string_view bytes);

/// A usage error that names file, line and byte unless the bytes are text.
void check_text(std::string_view bytes, const std::filesystem::path& file);

}  // namespace residuum
