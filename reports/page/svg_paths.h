#pragma once
// The paths of SVG drawings in few bytes.

#include <string>
#include <string_view>

namespace residuum::reports {

/// Returns the data of a path with steps from point to point instead of places, to a tenth of a
/// pixel; no error adds up along the path. Data with other commands than M, L and z are returned as
/// they are.
std::string short_path(std::string_view data);

/// Returns the closed path through the points of a polygon, "1,2 3,4", likewise.
std::string path_of_points(std::string_view points);

}  // namespace residuum::reports
