#pragma once
// Drawings of gnuplot as parts of a page.

#include <string>
#include <string_view>

namespace residuum::reports {

struct SvgNames {
  std::string_view prefix;       // of the ids
  std::string_view description;  // for those who cannot see the drawing
};

/// Makes a drawing of gnuplot a part of a page: black becomes the colour of the page's text, and
/// ids get a prefix, because a page holds many drawings. What says nothing, half of the bytes, is
/// left out.
std::string inline_svg(std::string_view svg, const SvgNames& names);

}  // namespace residuum::reports
