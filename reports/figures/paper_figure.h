#pragma once
// A paper figure is one drawing in a file of its own, with the width and the letters that a paper
// or a talk has.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "reports/figures/figure.h"
#include "reports/figures/heat_map.h"

namespace residuum::reports {

/// A PaperFormat is the size that figures have in one column of a kind of paper.
struct PaperFormat {
  std::string_view name;
  PaperSize size;
};

/// Returns icml (one of two columns), ieee (one of two columns) and slides (beamer, 16:9).
std::span<const PaperFormat> paper_formats();

inline constexpr double kLeastFigureWidth = 20;  // in mm
inline constexpr double kMostFigureWidth = 1000;
inline constexpr double kLeastFigureFont = 4;  // in points
inline constexpr double kMostFigureFont = 40;

/// Writes the figure into a file whose ending says how: .svg and .pdf are drawn by gnuplot, .tex is
/// for pgfplots and has <name>.csv beside it. Another ending, a name that TeX cannot read, a file
/// that is not ours to replace and a width below least_paper_width are usage errors; a drawing that
/// fails is a resource error. No file is half-written.
void write_paper_figure(FigureSpec spec, const std::filesystem::path& file);
void write_paper_figure(HeatMap map, const std::filesystem::path& file);

/// Throws the usage errors of write_paper_figure that are of the file, before anything is read. A
/// path that ends in / is a folder, which is no error.
void require_figure_file(const std::filesystem::path& file);

/// Refuses a width at which axes or legend have no place, as a usage error.
void require_figure_room(const FigureSpec& spec);
void require_figure_room(const HeatMap& map);

}  // namespace residuum::reports
