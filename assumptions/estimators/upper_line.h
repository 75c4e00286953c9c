#pragma once
// This file fits the growth constants of Sahu et al. (NeurIPS 2021) and of Stich and Karimireddy to
// measured points: (M, sigma^2) with E|xi|^2 <= M |grad f_p|^2 + sigma^2, and (C, zeta^2) with mean
// |grad f_p - grad f|^2 <= C |grad f|^2 + zeta^2.

#include <optional>
#include <span>

namespace residuum {

/// y = slope x + offset.
struct UpperLine {
  double slope = 0;   // M or C
  double offset = 0;  // sigma^2 or zeta^2
};

/// The line with slope >= 0 and offset >= 0 that lies on or above every point (x_i, y_i) and whose
/// mean height over the x_i is least: a linear programme in two variables, solved exactly. The line
/// has to pass on or above (0, 0) too (offset >= 0) and supports the upper hull of all these points
/// above the mean of the x_i. Of equally good lines it is the flattest. The points are window
/// means: their scatter makes the line an upper estimate. Absent without points. O(n log n).
std::optional<UpperLine> upper_line(std::span<const double> x, std::span<const double> y);

}  // namespace residuum
