#include "reports/page/page_frame.h"

#include <fmt/format.h>

#include <cstdint>

#include "reports/page/html.h"

namespace residuum::reports {
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
