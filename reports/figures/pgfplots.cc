#include "reports/figures/pgfplots.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/text.h"
#include "reports/tables/csv.h"

namespace residuum::reports {
namespace {

struct Escape {
  std::string_view from;
  std::string_view to;
};

constexpr std::array<Escape, 13> kSpecials{{{"\\", "\\textbackslash{}"},
                                            {"{", "\\{"},
                                            {"}", "\\}"},
                                            {"$", "\\$"},
                                            {"&", "\\&"},
                                            {"#", "\\#"},
                                            {"%", "\\%"},
                                            {"_", "\\_"},
                                            {"^", "\\textasciicircum{}"},
                                            {"~", "\\textasciitilde{}"},
                                            {"<", "\\textless{}"},
                                            {">", "\\textgreater{}"},
                                            {"\"", "\\char34{}"}}};

// The signs that the program's own labels are written with.
constexpr std::array<Escape, 39> kSigns{
    {{"α", "$\\alpha$"},   {"β", "$\\beta$"},   {"γ", "$\\gamma$"}, {"δ", "$\\delta$"},
     {"ε", "$\\epsilon$"}, {"ζ", "$\\zeta$"},   {"η", "$\\eta$"},   {"θ", "$\\theta$"},
     {"κ", "$\\kappa$"},   {"λ", "$\\lambda$"}, {"μ", "$\\mu$"},    {"ξ", "$\\xi$"},
     {"ρ", "$\\rho$"},     {"σ", "$\\sigma$"},  {"τ", "$\\tau$"},   {"φ", "$\\varphi$"},
     {"ω", "$\\omega$"},   {"Δ", "$\\Delta$"},  {"Σ", "$\\Sigma$"}, {"∇", "$\\nabla$"},
     {"‖", "$\\|$"},       {"ℓ", "$\\ell$"},    {"−", "$-$"},       {"≤", "$\\le$"},
     {"≥", "$\\ge$"},      {"²", "$^2$"},       {"₀", "$_0$"},      {"∞", "$\\infty$"},
     {"√", "$\\surd$"},    {"·", "$\\cdot$"},   {"×", "$\\times$"}, {"–", "--"},
     {"—", "---"},         {"…", "\\dots{}"},   {"ā", "$\\bar a$"}, {"ḡ", "$\\bar g$"},
     {"ĝ", "$\\hat g$"},   {"⟨", "$\\langle$"}, {"⟩", "$\\rangle$"}}};

const Escape* find_escape(std::string_view character) {
  const auto is_it = [&](const Escape& one) { return one.from == character; };
  const auto* const special = std::find_if(kSpecials.begin(), kSpecials.end(), is_it);
  if (special != kSpecials.end()) {
    return special;
  }
  const auto* const sign = std::find_if(kSigns.begin(), kSigns.end(), is_it);
  return sign == kSigns.end() ? nullptr : sign;
}

/// Returns whether every LaTeX prints the character: it is ASCII or a letter of Latin-1.
bool is_printed_everywhere(std::string_view character) {
  return character.size() == 1 || (character.size() == 2 && character[0] == '\xc3');
}

std::string latex_character(std::string_view character) {
  if (const Escape* escape = find_escape(character)) {
    return std::string(escape->to);
  }
  if (is_printed_everywhere(character)) {
    return std::string(character);
  }
  return fmt::format("\\ifdefined\\Uchar {}\\else ?\\fi{{}}", character);
}

std::string dash_clause(const std::vector<int>& dash) {
  if (dash.empty()) {
    return "solid";
  }
  std::string text = "dash pattern=";
  for (std::size_t i = 0; i < dash.size(); ++i) {
    text += fmt::format("{}{} {}pt", i == 0 ? "" : " ", i % 2 == 0 ? "on" : "off", 0.6 * dash[i]);
  }
  return text;
}

std::string marker_clause(const LineStyle& style, std::size_t points) {
  constexpr std::size_t kMarkersPerCurve = 8;
  if (style.marker.empty()) {
    return "no marks";
  }
  return fmt::format("mark={}, mark size=1.3pt, mark repeat={}, mark options={{solid}}",
                     find_marker(style.marker).pgfplots,
                     std::max<std::size_t>(1, points / kMarkersPerCurve));
}

/// Returns the rows of one curve; the expression picks them from the CSV of all curves.
std::string rows_of(const FigureSpec& spec, std::size_t curve, std::string_view y) {
  return fmt::format(
      "table[col sep=comma, x=x, y={}, restrict expr to domain={{\\thisrow{{curve}}}}{{{}:{}}}] "
      "{{{}.csv}};\n",
      y,
      curve,
      curve,
      spec.name);
}

/// Writes one end of a band, invisible and cut off at the ends of the axis, whose logarithms
/// pgfplots takes.
std::string band_end(const FigureSpec& spec, std::size_t i, std::string_view column) {
  const AxisRange range = y_range(spec);
  const bool is_log = spec.y_scale == Scale::log;
  return fmt::format(
             "\\addplot[draw=none, forget plot, no marks, name path={}{},\n"
             "  restrict y to domain*={:.6g}:{:.6g}]\n  ",
             column,
             i,
             is_log ? std::log(range.low) : range.low,
             is_log ? std::log(range.high) : range.high) +
         rows_of(spec, i, column);
}

std::string band(const FigureSpec& spec, std::size_t i) {
  return band_end(spec, i, "lower") + band_end(spec, i, "upper") +
         fmt::format(
             "\\addplot[residuum{0}, draw=none, fill=residuum{0}, fill opacity=0.18, forget plot]\n"
             "  fill between[of=lower{0} and upper{0}];\n",
             i);
}

std::string line(const FigureSpec& spec, std::size_t i) {
  const Curve& curve = spec.curves[i];
  const LineStyle style = style_of(curve);
  return fmt::format("\\addplot[residuum{}, line width={}pt, {}, {}]\n  ",
                     i,
                     style.width / 2,
                     dash_clause(style.dash),
                     marker_clause(style, curve.points.size())) +
         rows_of(spec, i, "median") +
         fmt::format("\\addlegendentry{{{}}}\n", latex_text(drawn_label(curve.label)));
}

std::string reference_line(const FigureSpec& spec) {
  if (!spec.reference) {
    return {};
  }
  const AxisRange range = x_range(spec);
  return fmt::format(
      "\\addplot[gray, densely dotted, no marks] coordinates {{({0},{2}) ({1},{2})}};\n"
      "\\addlegendentry{{{3}}}\n",
      format_number(range.low),
      format_number(range.high),
      format_number(spec.reference->y),
      latex_text(drawn_label(spec.reference->label)));
}

/// Writes the ticks of an axis that has them where points are; others are pgfplots' own.
std::string ticks_of_pgfplots(const FigureSpec& spec) {
  const std::vector<double> places = tick_places(spec);
  if (places.empty()) {
    return {};
  }
  const AxisRange range = x_range_around(spec, places);
  std::string list;
  for (const double place : places) {
    list += (list.empty() ? "" : ",") + format_number(place);
  }
  return fmt::format("  xmin={}, xmax={}, xtick={{{}}}, xticklabels={{{}}},\n",
                     format_number(range.low),
                     format_number(range.high),
                     list,
                     list);
}

std::string opening(const FigureSpec& spec) {
  const AxisRange range = y_range(spec);
  return fmt::format(
      "\\begin{{tikzpicture}}\n"
      "\\begin{{axis}}[\n"
      "  width=0.9\\linewidth, height=0.55\\linewidth,\n"
      "  xlabel={{{}}}, ylabel={{{}}},\n"
      "  xmode={}, ymode={}, ymin={}, ymax={},\n"
      "{}"
      "  unbounded coords=jump, filter discard warning=false, axis lines=left, ymajorgrids,\n"
      "  legend style={{draw=none, fill=none, font=\\small, cells={{anchor=west}}, "
      "at={{(0.5,-0.2)}}, "
      "anchor=north}},\n"
      "]\n",
      latex_text(drawn_label(spec.x_label)),
      latex_text(drawn_label(spec.y_label)),
      spec.x_scale == Scale::log ? "log" : "linear",
      spec.y_scale == Scale::log ? "log" : "linear",
      format_number(range.low),
      format_number(range.high),
      ticks_of_pgfplots(spec));
}

}  // namespace

std::string figure_tex(const FigureSpec& spec) {
  std::string text = fmt::format(
      "% Draws {0}.csv. The document needs \\usepackage{{pgfplots}},\n"
      "% \\usepgfplotslibrary{{fillbetween}} and \\pgfplotsset{{compat=1.16}}, and {0}.csv beside "
      "it.\n",
      spec.name);
  if (const std::string note = note_under(spec); !note.empty()) {
    text += fmt::format("% {}\n", note);
  }
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += fmt::format("\\definecolor{{residuum{}}}{{HTML}}{{{}}}\n",
                        i,
                        style_of(spec.curves[i]).colour.substr(1));
  }
  text += opening(spec);
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += has_band(spec.curves[i]) ? band(spec, i) : std::string();
  }
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    text += spec.curves[i].points.empty() ? std::string() : line(spec, i);
  }
  return text + reference_line(spec) + "\\end{axis}\n\\end{tikzpicture}\n";
}

std::string latex_text(std::string_view text) {
  const std::string shown = harmless(text);
  std::string escaped;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t length = std::max<std::size_t>(1, utf8_character(shown, at));
    escaped += latex_character(std::string_view(shown).substr(at, length));
    at += length;
  }
  return escaped;
}

}  // namespace residuum::reports
