#include "reports/page/figure_writer.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/page/html.h"

namespace residuum::reports {
namespace {

/// Returns links to the files of a figure; `names` is the name of its file of names.
std::string file_links(const std::string& name, std::string_view names, const DrawnFigure& drawn) {
  std::string links = fmt::format(
      "<a href=\"figures/{0}.csv\">numbers</a>, "
      "<a href=\"figures/{0}.{1}.csv\">names</a>, "
      "<a href=\"figures/{0}.gp\">script</a>, "
      "<a href=\"figures/{0}.tex\">LaTeX</a>",
      name,
      names);
  if (!drawn.svg.empty()) {
    links += fmt::format(", <a href=\"figures/{}.svg\">SVG</a>", name);
  }
  if (drawn.has_pdf) {
    links += fmt::format(", <a href=\"figures/{}.pdf\">PDF</a>", name);
  }
  return links;
}

std::string figure_html(const ReportFigure& figure, const DrawnFigure& drawn, std::size_t number) {
  const std::string& name = figure.spec.name;
  const std::string drawing =
      drawn.svg.empty()
          ? fmt::format("<p class=\"note\">{}</p>\n", escape("Not drawn: " + drawn.problem))
          : inline_svg(drawn.svg,
                       {.prefix = fmt::format("f{}", number), .description = figure.title});
  return fmt::format(
      "<figure data-figure=\"{0}\"{1}><h3>{2}</h3>\n<div class=\"static\">{3}</div>"
      "<figcaption>{4} {5}</figcaption></figure>\n",
      name,
      figure.variant_of.empty() ? "" : fmt::format(" data-variant=\"{}\"", figure.variant_of),
      escape(figure.title),
      drawing,
      escape(figure.caption),
      file_links(name, "curves", drawn));
}

}  // namespace

std::string FigureWriter::draw(std::vector<ReportFigure> figures) {
  if (figures.empty()) {
    return {};
  }
  std::string html = "<div class=\"figures\">\n";
  for (auto& figure : figures) {
    const DrawnFigure drawn = noted(reports::draw(figure.spec, folder_));
    html += figure_html(figure, drawn, figures_.size());
    names_.push_back(figure.spec.name);
    figures_.push_back(std::move(figure));
  }
  return html + "</div>\n";
}

std::string FigureWriter::draw(const HeatMap& map) {
  names_.push_back(map.name);
  return file_links(map.name, "axes", noted(reports::draw(map, folder_)));
}

std::string FigureWriter::problem() const {
  return not_drawn_ < 2 ? first_problem_
                        : fmt::format("{}; {} figures are not drawn", first_problem_, not_drawn_);
}

DrawnFigure FigureWriter::noted(DrawnFigure drawn) {
  if (!drawn.problem.empty()) {
    first_problem_ = not_drawn_ == 0 ? drawn.problem : first_problem_;
    ++not_drawn_;
  }
  return drawn;
}

}  // namespace residuum::reports
