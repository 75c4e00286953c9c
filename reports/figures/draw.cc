#include "reports/figures/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include "core/child_program.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/pgfplots.h"
#include "reports/results/files.h"

namespace residuum::reports {
std::string run_gnuplot(const std::filesystem::path& folder, const std::string& script) {
  std::error_code failure;
  const auto end =
      run_program_to_end({.words = {"gnuplot", "-d", script}, .folder = folder}, failure);
  if (failure == std::errc::no_such_file_or_directory) {
    return "gnuplot is not installed: install the Debian package gnuplot-nox";
  }
  if (!end) {
    return fmt::format("gnuplot cannot be run: {}", failure.message());
  }
  if (end->code != 0) {
    return fmt::format("gnuplot failed; run 'gnuplot {}' in its folder to see why", script);
  }
  return {};
}

namespace {

/// The ends of the names of a figure's files; without its script nothing tells whose they are, so
/// that it goes last.
constexpr std::array<const char*, 7> kEndings{
    ".csv", ".curves.csv", ".axes.csv", ".tex", ".svg", ".pdf", ".gp"};

/// Makes the folder for a figure's files, and removes old drawings: they must not pass for today's.
void clear_place(const OutputPath& folder, const std::string& name) {
  make_folder(folder);
  remove_file(folder / (name + ".svg"));
  remove_file(folder / (name + ".pdf"));
}

/// Returns a drawing of gnuplot that changes the colours of paper, ink and grid where the reader's
/// pages are dark. Curves keep theirs.
std::string with_dark_form(std::string svg) {
  constexpr const char* kDarkForm =
      "<style>@media (prefers-color-scheme: dark) {\n"
      "[fill=\"#ffffff\"] { fill: #16181d }\n"
      "[fill=black], [fill=\"rgb(  0,   0,   0)\"] { fill: #dddddd }\n"
      "[stroke=black], [stroke=\"rgb(  0,   0,   0)\"] { stroke: #dddddd }\n"
      "[color=black], [color=\"rgb(  0,   0,   0)\"] { color: #dddddd }\n"
      "[fill=\"rgb(96,96,96)\"] { fill: #aaaaaa }\n"
      "[stroke=\"rgb(160, 160, 160)\"] { stroke: #555555 }\n"
      "}</style>\n";
  const auto canvas = svg.find("<g id=\"gnuplot_canvas\">");
  if (canvas != std::string::npos) {
    svg.insert(canvas, kDarkForm);
  }
  return svg;
}

/// Draws <name>.svg and <name>.pdf by the script <name>.gp. The file has a dark form; the text that
/// is returned has none, since a page has its own colours.
DrawnFigure run_script(const OutputPath& folder, const std::string& name) {
  const OutputPath svg = folder / (name + ".svg");
  const OutputPath pdf = folder / (name + ".pdf");
  std::error_code ignored;
  DrawnFigure figure{.svg = {}, .has_pdf = false, .problem = run_gnuplot(folder, name + ".gp")};
  if (figure.problem.empty()) {
    figure.svg = read_file(svg);
    write_file_atomically(svg, with_dark_form(figure.svg));
    figure.has_pdf = std::filesystem::exists(pdf.path(), ignored);
  } else {
    remove_file(svg);
    remove_file(pdf);
  }
  return figure;
}

/// Returns whether a file is a script that this program wrote under the name that it has.
bool is_own_script(const std::filesystem::path& file) {
  std::error_code ignored;
  if (file.extension() != ".gp" || !std::filesystem::is_regular_file(file, ignored)) {
    return false;
  }
  const std::string opening = script_opening(file.stem().string());
  std::string begin(opening.size(), '\0');
  std::ifstream script(file, std::ios::binary);
  script.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return script && begin == opening;
}

}  // namespace

DrawnFigure draw(const FigureSpec& spec, const OutputPath& folder) {
  clear_place(folder, spec.name);
  write_file_atomically(folder / (spec.name + ".csv"), figure_csv(spec));
  write_file_atomically(folder / (spec.name + ".curves.csv"), curves_csv(spec));
  write_file_atomically(folder / (spec.name + ".gp"), figure_gp(spec));
  write_file_atomically(folder / (spec.name + ".tex"), figure_tex(spec));
  return run_script(folder, spec.name);
}

DrawnFigure draw(const HeatMap& map, const OutputPath& folder) {
  clear_place(folder, map.name);
  write_file_atomically(folder / (map.name + ".csv"), heat_map_csv(map));
  write_file_atomically(folder / (map.name + ".axes.csv"), heat_map_axes_csv(map));
  write_file_atomically(folder / (map.name + ".gp"), heat_map_gp(map));
  write_file_atomically(folder / (map.name + ".tex"), heat_map_tex(map));
  return run_script(folder, map.name);
}

void remove_other_figures(const OutputPath& folder, const std::vector<std::string>& names) {
  std::error_code ignored;
  std::vector<std::string> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(), ignored)) {
    const std::string name = entry.path().stem().string();
    if (is_own_script(entry.path()) && std::find(names.begin(), names.end(), name) == names.end()) {
      old.push_back(name);
    }
  }
  for (const auto& name : old) {
    for (const char* ending : kEndings) {
      remove_file(folder / (name + ending));
    }
  }
}

}  // namespace residuum::reports
