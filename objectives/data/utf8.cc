#include "objectives/data/utf8.h"

#include <algorithm>
#include <cstdint>

#include "core/error.h"
#include "core/text.h"

namespace residuum {

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
      static_cast<std::uint8_t>(bytes[*bad]));
}

void refuse_byte_order_mark(std::string_view bytes, const std::filesystem::path& file) {
  const bool is_marked = bytes.starts_with("\xef\xbb\xbf") || bytes.starts_with("\xff\xfe") ||
                         bytes.starts_with("\xfe\xff");
  require(!is_marked,
          "{}:1:1: begins with a byte order mark; save it as UTF-8 without one",
          file.string());
}

}  // namespace residuum
