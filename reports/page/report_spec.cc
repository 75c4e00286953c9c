#include <fmt/format.h>

#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

Cell spec_cell(const TableColumn& column, const TableCell& from) {
  if (!column.is_number) {
    return text_cell(from.text);
  }
  Cell cell = number_cell(short_number(from.value, digits_for(from.interval)));
  cell.value = from.value;
  if (from.is_best) {
    cell.html = fmt::format("<strong>{}</strong>", cell.html);
  }
  if (from.interval) {
    cell.html += small(short_interval(*from.interval));
  }
  return cell;
}

std::string spec_table(const TableSpec& spec) {
  std::vector<Cell> header;
  for (const auto& column : spec.columns) {
    header.push_back(column.is_number ? number_cell(column.title) : text_cell(column.title));
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& from : spec.rows) {
    auto& row = rows.emplace_back();
    for (std::size_t i = 0; i < from.size(); ++i) {
      row.push_back(spec_cell(spec.columns[i], from[i]));
    }
  }
  TableUse use;
  use.methods = spec.methods;
  return fmt::format("<p>{}</p>\n", escape(full_caption(spec))) + table(header, rows, use);
}

}  // namespace

std::string spec_tables(const std::vector<TableSpec>& specs, std::string_view name) {
  std::string html;
  for (const auto& spec : specs) {
    html += spec.name.starts_with(name) ? spec_table(spec) : std::string();
  }
  return html;
}

std::string table_links(const std::vector<TableSpec>& specs) {
  std::string html;
  for (const auto& spec : specs) {
    html += fmt::format(
        "<li>{0}: <a href=\"tables/{0}.csv\">CSV</a>, <a href=\"tables/{0}.md\">Markdown</a>, "
        "<a href=\"tables/{0}.tex\">LaTeX</a>, "
        "<a href=\"tables/{0}.caption.tex\">its caption</a></li>\n",
        spec.name);
  }
  return html.empty() ? html : fmt::format("<ul>\n{}</ul>\n", html);
}

}  // namespace residuum::reports
