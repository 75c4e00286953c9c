#include "reports/page/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

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

namespace {

std::uint32_t hex_value(char digit) {
  const bool is_decimal = digit >= '0' && digit <= '9';
  return static_cast<std::uint32_t>(is_decimal ? digit - '0' : digit - 'a' + 10);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto byte = at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U;
      group = group << 8U | byte;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      const bool is_filler = at + i > bytes.size();
      text += is_filler ? '=' : kDigits[group >> (6 * (3 - i)) & 63U];
    }
  }
  return text;
}

std::string script_sources() {
  std::string sources = '\'' + policy_hash(page_script().sha256) + '\'';
  if (!page_library().text.empty()) {
    sources += " '" + policy_hash(page_library().sha256) + '\'';
  }
  return sources;
}

/// Names whose work the page holds. A comment must not hold two hyphens.
std::string licence_comment() {
  std::string text(page_library_licences().text);
  for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at)) {
    text.replace(at, 2, "- ");
  }
  return text.empty() ? text : fmt::format("<!-- This page holds modules of d3:\n\n{}-->\n", text);
}

}  // namespace

std::string policy_hash(std::string_view hexadecimal) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2) {
    bytes += static_cast<char>(hex_value(hexadecimal[i]) << 4U | hex_value(hexadecimal[i + 1]));
  }
  return "sha256-" + base64(bytes);
}

std::string page_head(std::string_view title) {
  return fmt::format(
      "<!DOCTYPE html>\n"
      "<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "script-src {}; style-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "{}<title>{} — Residuum</title>\n<style>{}</style>\n</head>\n",
      script_sources(),
      policy_hash(page_style().sha256),
      licence_comment(),
      escape(title),
      page_style().text);
}

std::string data_element(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", text);
}

std::string page_scripts() {
  std::string html;
  for (const Asset& asset : {page_library(), page_script()}) {
    if (!asset.text.empty()) {
      html += fmt::format("<script>{}</script>\n", asset.text);
    }
  }
  return html;
}

}  // namespace residuum::reports
