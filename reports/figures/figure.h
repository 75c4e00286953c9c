#pragma once
// A FigureSpec is the one description of a figure. gnuplot_script.h, pgfplots.h and the page draw
// it, and all of them show the numbers of <name>.csv.

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/analysis/series.h"

namespace residuum::reports {

enum class Scale { linear, log };

/// A horizontal line that the curves are to be held against.
struct Reference {
  double y = 0;
  std::string label;
};

/// A PaperSize is that of a drawing which goes into a paper or a talk as it is.
struct PaperSize {
  double width_mm = 77;  // a column of article in two columns has 77.8 mm on A4
  double font_pt = 8;
};

struct FigureSpec {
  std::string name;  // of the figure's files, without ending: [a-z0-9-]
  std::string x_label;
  std::string y_label;
  Scale x_scale = Scale::linear;
  Scale y_scale = Scale::linear;
  std::optional<Reference> reference;
  std::vector<Curve> curves;
  std::string band = "median, IQR";  // the middle and the band of its points
  bool is_of_one_method = false;     // others are never in it
  std::optional<PaperSize> paper;  // absent: as wide as the report's page, or as the text in LaTeX
};

/// A LineStyle is a colour that the colour-blind can tell apart (Okabe and Ito 2008), a dash
/// pattern for print without colour, and a marker. Yellow, too pale for a line on white, is left
/// out for grey.
struct LineStyle {
  std::string_view colour;  // "#0072B2"
  std::vector<int> dash;    // lengths in points of line and gap; none: solid
  std::string_view marker;  // "circle", as kMarkers names them; empty: none
  double width = 1.8;       // in points
};

struct Marker {
  std::string_view name;
  int gnuplot;                // its point type
  std::string_view pgfplots;  // its mark
};

/// The markers in the order of styles; a name is also that of the page's symbol.
inline constexpr std::array<Marker, 7> kMarkers{{{"circle", 7, "*"},
                                                 {"square", 5, "square*"},
                                                 {"triangle", 9, "triangle*"},
                                                 {"diamond", 13, "diamond*"},
                                                 {"plus", 1, "+"},
                                                 {"times", 2, "x"},
                                                 {"asterisk", 3, "asterisk"}}};

/// Returns the style of a method's curve. Methods whose numbers differ by less than 56 differ in
/// colour or marker.
LineStyle line_style(std::size_t style);

/// Returns the style of a curve: that of its method, or thin, grey and dashed for a bound.
LineStyle style_of(const Curve& curve);

/// Returns the style of the line of a Reference: thin, grey and dotted.
LineStyle reference_style();

/// A BoundMark is a short text that stands at a bound's curve, because grey lines look alike. It is
/// the curve's own, or a letter, with which the legend then begins.
struct BoundMark {
  std::size_t curve = 0;  // of FigureSpec::curves
  std::string text;       // "(a)"
  double x = 0;
  double y = 0;
};

/// Returns a mark for each bound that has a point on the axes. Marks of several bounds stand at
/// different places of the x axis, so that none covers another.
std::vector<BoundMark> bound_marks(const FigureSpec& spec);

/// The most characters of a label in a drawing.
inline constexpr std::size_t kMostDrawnCharacters = 81;

/// Returns the label of a curve in the legend, as drawings have it: "(a) Q(q) η² G²" for a bound.
/// Longer ones lose their middle, and a bound "theorem: formula" its formula.
std::string legend_label(const FigureSpec& spec,
                         std::size_t curve,
                         std::size_t most = kMostDrawnCharacters);

/// Returns the text with its middle left out, so that it has at most `most` characters.
std::string without_middle(std::string_view text, std::size_t most);

/// Returns how many characters the text has.
std::size_t characters_in(std::string_view text);

/// Returns the marker of that name.
const Marker& find_marker(std::string_view name);

/// Chooses a logarithmic scale when no middle is below zero and the others span more than a factor
/// `span`, and a linear one otherwise. Zeros have no place on a logarithmic axis and leave a gap.
Scale scale_for(const std::vector<Curve>& curves, double span);

/// The ends of an axis.
struct AxisRange {
  double low = 0;
  double high = 1;
};

/// Returns the y axis of a figure. Values a millionfold above the median are cut off, because a run
/// that diverges must not flatten the others.
AxisRange y_range(const FigureSpec& spec);

/// Returns the x axis that the points span, without margins.
AxisRange x_range(const FigureSpec& spec);

/// Returns the places on the x axis where measured points are, in order, if each is to have a tick
/// of its own: there is one place, or a logarithmic axis has a few that do not crowd, as the
/// numbers of workers of a sweep. Otherwise the result is empty.
std::vector<double> tick_places(const FigureSpec& spec);

/// Returns the x axis with the margins that a figure with ticks at these places has.
AxisRange x_range_around(const FigureSpec& spec, const std::vector<double>& places);

/// Returns whether a point of the curve is on the axes: logarithmic ones have no place for some.
bool is_on_axes(const FigureSpec& spec, const Curve& curve);

/// Returns whether some point of the curve has a band.
bool has_band(const Curve& curve);

/// Returns the least and the largest number of seeds that a point has, of those with a middle.
std::pair<std::size_t, std::size_t> seeds_of(const std::vector<Point>& points);

/// Returns "median, IQR over 8 seeds", or "over 3 to 8 seeds" where curves or their points differ;
/// empty where no curve has a band.
std::string band_text(const FigureSpec& spec);

/// Returns the number of measured values that the logarithmic axes have no place for.
std::size_t gaps_of(const FigureSpec& spec);

/// Returns the number of measured values that are cut off above the y axis.
std::size_t cut_off(const FigureSpec& spec);

/// Returns what stands under the plot: what the bands are, how many gaps there are, and how many
/// values are above it.
std::string note_under(const FigureSpec& spec);

/// Returns the label as drawings have it: the middle of a very long one is left out.
std::string drawn_label(std::string_view label);

/// <name>.csv: curve,x,median,lower,upper,n. An undefined value is nan, so that every program that
/// draws leaves a gap; curves without a band have empty bounds. No text is in it, because TeX
/// cannot read quoted fields.
std::string figure_csv(const FigureSpec& spec);

/// <name>.curves.csv: curve,label,colour,dash,marker,is_bound.
std::string curves_csv(const FigureSpec& spec);

}  // namespace residuum::reports
