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

/// Returns the data of a path with steps from point to point instead of places, to a tenth of a
/// pixel; no error adds up along the path. Data with other commands than M, L and z are returned as
/// they are.
std::string short_path(std::string_view data);

/// Returns the closed path through the points of a polygon, "1,2 3,4", in steps to a tenth of a
/// pixel too.
std::string path_of_points(std::string_view points);

}  // namespace residuum::reports
