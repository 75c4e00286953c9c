#pragma once
// A heat map shows a number for every pair of two keys' values. Its files lie beside those of the
// figures: <name>.csv with the numbers, <name>.axes.csv with the values of the keys, which TeX
// cannot read, and <name>.gp and <name>.tex, which draw them.

#include <optional>
#include <string>
#include <vector>

#include "reports/figures/figure.h"

namespace residuum::reports {

struct HeatMap {
  std::string name;   // of the files, without ending: [a-z0-9-]
  std::string title;  // what is shown
  std::string row_key;
  std::string column_key;
  std::vector<std::string> rows;  // values of the key
  std::vector<std::string> columns;
  std::vector<std::optional<double>> cells;  // row by row; absent where there is no number
  std::optional<PaperSize> paper = {};       // absent: as wide as the report's page
  std::string row_title = {};                // of the axis; empty: the key
  std::string column_title = {};

  /// Returns whether colours go by the logarithm: no number is below zero or zero, and they differ
  /// more than twentyfold.
  bool is_log() const;
  /// Returns the number of a cell that is finite.
  std::optional<double> value(std::size_t row, std::size_t column) const;
  /// Returns the finite numbers.
  std::vector<double> values() const;
};

/// row,column,value,shade: places from 0, the number, and the value that sets its colour. A missing
/// number is nan.
std::string heat_map_csv(const HeatMap& map);

/// axis,place,key,value.
std::string heat_map_axes_csv(const HeatMap& map);

/// Returns the least width in whole millimetres at which a map in letters of that size can be read:
/// the numbers of neighbouring cells do not touch.
double least_map_width(const HeatMap& map, double font_pt);

/// A tikzpicture for pgfplots that reads <name>.csv, in a box of the paper's width, or of the width
/// of the text around it. The title is for the caption. It needs at least one finite number.
std::string heat_map_tex(const HeatMap& map);

/// A script by which gnuplot makes <name>.svg and <name>.pdf of <name>.csv. It needs at least one
/// finite number.
std::string heat_map_gp(const HeatMap& map);

}  // namespace residuum::reports
