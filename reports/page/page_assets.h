#pragma once
// The texts of reports/page/web that every page holds. The build embeds them.

#include <string_view>

namespace residuum::reports {

struct Asset {
  std::string_view text;
  std::string_view sha256;  // in hexadecimal digits
};

Asset page_style();
Asset page_script();

/// Returns the library that the script draws figures with; its text is empty in a program that was
/// built where npm had not fetched it, and figures are then the static ones.
Asset page_library();

/// Returns the licences of the library, one after the other.
Asset page_library_licences();

}  // namespace residuum::reports
