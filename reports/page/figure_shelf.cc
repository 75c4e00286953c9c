#include "reports/page/figure_shelf.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/figures/draw.h"
#include "reports/page/html.h"
#include "reports/page/inline_svg.h"

namespace residuum::reports {
namespace {

std::string file_links(const std::string& name, const DrawnFigure& drawn) {
  std::string links = fmt::format(
      "<a href=\"figures/{0}.csv\">numbers</a>, "
      "<a href=\"figures/{0}.curves.csv\">names</a>, "
      "<a href=\"figures/{0}.gp\">script</a>, "
      "<a href=\"figures/{0}.tex\">LaTeX</a>",
      name);
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
      file_links(name, drawn));
}

}  // namespace

std::string FigureShelf::draw(std::vector<ReportFigure> figures) {
  if (figures.empty()) {
    return {};
  }
  std::string html = "<div class=\"figures\">\n";
  for (auto& figure : figures) {
    const DrawnFigure drawn = reports::draw(figure.spec, folder_);
    if (!drawn.problem.empty() &&
        std::find(problems_.begin(), problems_.end(), drawn.problem) == problems_.end()) {
      problems_.push_back(drawn.problem);
    }
    html += figure_html(figure, drawn, figures_.size());
    figures_.push_back(std::move(figure));
  }
  return html + "</div>\n";
}

}  // namespace residuum::reports
