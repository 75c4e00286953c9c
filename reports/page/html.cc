#include "reports/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

/// Returns whether the cell's text has a word so long that a line must break within it. Words end
/// at spaces, hyphens and tags.
bool has_long_word(std::string_view html) {
  constexpr std::size_t kLong = 24;
  std::size_t length = 0;
  bool is_in_tag = false;
  for (const char c : html) {
    is_in_tag = c == '<' || (is_in_tag && c != '>');
    const bool ends = is_in_tag || c == '>' || c == ' ' || c == '-';
    length = ends ? 0 : length + 1;
    if (length > kLong) {
      return true;
    }
  }
  return false;
}

std::string class_names(const Cell& cell) {
  std::string names = cell.is_number ? "n" : "";
  if (has_long_word(cell.html)) {
    names += names.empty() ? "long" : " long";
  }
  return names;
}

/// Returns the text of a cell without its tags, for an attribute: it is escaped already.
std::string without_tags(std::string_view html) {
  std::string text;
  bool is_in_tag = false;
  for (const char c : html) {
    if (c == '<' && !text.empty() && text.back() != ' ') {
      text += ' ';
    }
    is_in_tag = c == '<' || (is_in_tag && c != '>');
    text += is_in_tag || c == '>' ? std::string() : std::string(1, c);
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string tag(std::string_view name,
                const Cell& cell,
                std::string_view scope = {},
                std::string_view title = {}) {
  std::string attributes;
  if (!title.empty()) {
    attributes += fmt::format(" data-title=\"{}\"", title);
  }
  if (!scope.empty()) {
    attributes += fmt::format(" scope=\"{}\"", scope);
  }
  if (const std::string names = class_names(cell); !names.empty()) {
    attributes += fmt::format(" class=\"{}\"", names);
  }
  if (cell.value) {
    attributes += fmt::format(" data-value=\"{}\"", *cell.value);
  }
  return fmt::format("<{0}{1}>{2}</{0}>", name, attributes, cell.html);
}

std::string opening(const TableUse& use) {
  std::string html =
      "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"table\"><table";
  html += use.has_cards ? " class=\"cards\"" : "";
  if (!use.id.empty()) {
    html += fmt::format(
        " id=\"{}\" data-sort=\"\"{}", use.id, use.is_searched ? " data-find=\"\"" : "");
  }
  html += ">\n";
  return use.caption.empty()
             ? html
             : html + fmt::format("<caption><span>{}</span></caption>\n", use.caption);
}

std::string row_opening(const TableUse& use, std::size_t row) {
  if (row >= use.methods.size()) {
    return "<tr>";
  }
  const auto& method = use.methods[row];
  return fmt::format("<tr data-method=\"{}\">",
                     method ? fmt::format("{}", *method) : std::string());
}

}  // namespace

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : harmless_lines(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

Cell text_cell(std::string_view text) { return {.html = escape(text), .is_number = false}; }

Cell key_cell(std::string_view key) {
  std::string html;
  for (const char c : escape(key)) {
    html += c;
    html += c == '.' || c == '_' ? "<wbr>" : "";
  }
  return {.html = html, .is_number = false};
}

Cell number_cell(std::string_view text) { return {.html = escape(text), .is_number = true}; }

std::string small(std::string_view text) { return fmt::format("<small>{}</small>", escape(text)); }

std::string table(const std::vector<Cell>& header,
                  const std::vector<std::vector<Cell>>& rows,
                  const TableUse& use) {
  std::string html = opening(use) + "<thead><tr>";
  for (const auto& cell : header) {
    html += tag("th", cell, "col");
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    html += row_opening(use, i);
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      const bool is_header = column == 0;
      const std::string title =
          use.has_cards && !is_header ? without_tags(header.at(column).html) : std::string();
      html += tag(is_header ? "th" : "td", rows[i][column], is_header ? "row" : "", title);
    }
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table></div>\n";
}

}  // namespace residuum::reports
