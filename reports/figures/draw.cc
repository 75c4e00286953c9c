#include "reports/figures/draw.h"

#include <system_error>

#include "reports/figures/gnuplot.h"
#include "reports/figures/gnuplot_script.h"
#include "reports/figures/pgfplots.h"
#include "reports/tables/files.h"

namespace residuum::reports {

DrawnFigure draw(const FigureSpec& spec, const std::filesystem::path& folder) {
  const auto file = [&](const char* ending) { return folder / (spec.name + ending); };
  std::error_code ignored;  // a folder that is not there is an error when the CSV is written
  std::filesystem::create_directories(folder, ignored);
  std::filesystem::remove(file(".svg"), ignored);  // an old drawing must not pass for today's
  std::filesystem::remove(file(".pdf"), ignored);
  write_file_atomically(file(".csv"), figure_csv(spec));
  write_file_atomically(file(".curves.csv"), curves_csv(spec));
  write_file_atomically(file(".gp"), figure_gp(spec));
  write_file_atomically(file(".tex"), figure_tex(spec));
  DrawnFigure figure{
      .svg = {}, .has_pdf = false, .problem = run_gnuplot(folder, spec.name + ".gp")};
  if (figure.problem.empty()) {
    figure.svg = read_file(file(".svg"));
    figure.has_pdf = std::filesystem::exists(file(".pdf"), ignored);
  } else {
    std::filesystem::remove(file(".svg"), ignored);
    std::filesystem::remove(file(".pdf"), ignored);
  }
  return figure;
}

}  // namespace residuum::reports
