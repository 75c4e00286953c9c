#pragma once
// The gnuplot script of a figure. Names in a figure are untrusted: they reach the script only
// inside single quotes, where gnuplot substitutes nothing.

#include <string>
#include <string_view>
#include <vector>

#include "reports/figures/figure.h"

namespace residuum::reports {

/// <name>.gp: run by gnuplot in the folder of the CSV, it writes <name>.svg and, where gnuplot was
/// built with cairo, <name>.pdf.
std::string figure_gp(const FigureSpec& spec);

/// Returns the first line of the script of that name: it tells a script of ours from a user's.
std::string script_opening(std::string_view name);

/// The text as a gnuplot string in single quotes; control characters become question marks.
std::string gnuplot_text(std::string_view text);

/// The lengths of line and gap as a gnuplot dash type.
std::string gnuplot_dash(const std::vector<int>& dash);

}  // namespace residuum::reports
