#pragma once
// One description of a figure feeds its three files: <name>.csv with the numbers, <name>.gp that
// draws them, <name>.svg drawn by gnuplot. Names in a figure are untrusted: they reach the script
// only inside single quotes, where gnuplot substitutes nothing.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/numbers/curve.h"

namespace residuum::reports {

enum class Scale { linear, log };

/// A horizontal line that the curves are to be held against.
struct Reference {
  double y = 0;
  std::string label;
};

struct FigureSpec {
  std::string name;  // of the figure's files, without ending: [a-z0-9-]
  std::string x_label;
  std::string y_label;
  Scale x_scale = Scale::linear;
  Scale y_scale = Scale::linear;
  std::optional<Reference> reference;
  std::vector<Curve> curves;
};

/// Colours that the colour-blind can tell apart (Okabe and Ito 2008) and a dash pattern each, for
/// print without colour. Yellow, too pale for a line on white, is left out for grey.
struct LineStyle {
  std::string_view colour;
  std::string_view dash;
};
LineStyle line_style(std::size_t style);

/// Chooses a logarithmic scale when no middle is below zero and the others span more than a factor
/// `span`, and a linear one otherwise. Zeros have no place on a logarithmic axis and leave a gap.
Scale scale_for(const std::vector<Curve>& curves, double span);

/// <name>.csv: curve,x,median,lower,upper,n,label.
std::string figure_csv(const FigureSpec& spec);

/// <name>.gp: run by gnuplot in the folder of the CSV, it writes <name>.svg.
std::string figure_gp(const FigureSpec& spec);

/// The text as a gnuplot string in single quotes; control characters become spaces.
std::string gnuplot_text(std::string_view text);

struct DrawnFigure {
  std::string svg;      // the drawing, empty when there is none
  std::string problem;  // why there is none
};

/// Writes the three files into `folder`. Without gnuplot, or when it fails, CSV and script are
/// there and `problem` says what happened.
DrawnFigure draw(const FigureSpec& spec, const std::filesystem::path& folder);

}  // namespace residuum::reports
