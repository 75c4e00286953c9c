#include "reports/figures/draw.h"

#include <system_error>

#include "reports/figures/gnuplot.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/pgfplots.h"
#include "reports/tables/files.h"

namespace residuum::reports {
namespace {

/// Makes the folder for a figure's files, and removes old drawings: they must not pass for today's.
void clear_place(const std::filesystem::path& folder, const std::string& name) {
  make_folder(folder);
  std::error_code ignored;
  std::filesystem::remove(folder / (name + ".svg"), ignored);
  std::filesystem::remove(folder / (name + ".pdf"), ignored);
}

/// Draws <name>.svg and <name>.pdf by the script <name>.gp.
DrawnFigure run_script(const std::filesystem::path& folder, const std::string& name) {
  const auto svg = folder / (name + ".svg");
  const auto pdf = folder / (name + ".pdf");
  std::error_code ignored;
  DrawnFigure figure{.svg = {}, .has_pdf = false, .problem = run_gnuplot(folder, name + ".gp")};
  if (figure.problem.empty()) {
    figure.svg = read_file(svg);
    figure.has_pdf = std::filesystem::exists(pdf, ignored);
  } else {
    std::filesystem::remove(svg, ignored);
    std::filesystem::remove(pdf, ignored);
  }
  return figure;
}

}  // namespace

DrawnFigure draw(const FigureSpec& spec, const std::filesystem::path& folder) {
  clear_place(folder, spec.name);
  write_file_atomically(folder / (spec.name + ".csv"), figure_csv(spec));
  write_file_atomically(folder / (spec.name + ".curves.csv"), curves_csv(spec));
  write_file_atomically(folder / (spec.name + ".gp"), figure_gp(spec));
  write_file_atomically(folder / (spec.name + ".tex"), figure_tex(spec));
  return run_script(folder, spec.name);
}

DrawnFigure draw(const HeatMap& map, const std::filesystem::path& folder) {
  clear_place(folder, map.name);
  write_file_atomically(folder / (map.name + ".csv"), heat_map_csv(map));
  write_file_atomically(folder / (map.name + ".axes.csv"), heat_map_axes_csv(map));
  write_file_atomically(folder / (map.name + ".gp"), heat_map_gp(map));
  write_file_atomically(folder / (map.name + ".tex"), heat_map_tex(map));
  return run_script(folder, map.name);
}

}  // namespace residuum::reports
