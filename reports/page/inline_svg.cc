#include "reports/page/inline_svg.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstdio>

#include "reports/page/html.h"

namespace residuum::reports {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t begin = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, begin)) {
    result.append(text, begin, at - begin);
    result += to;
    begin = at + from.size();
  }
  result.append(text, begin);
  text = std::move(result);
}

/// Leaves out the many groups of gnuplot that hold nothing.
std::string without_empty_groups(std::string_view svg) {
  constexpr std::string_view kEnd = "\n</g>\n";
  std::string kept;
  std::size_t begin = 0;
  for (std::size_t at = svg.find("<g "); at != std::string_view::npos;
       at = svg.find("<g ", at + 1)) {
    const std::size_t end = svg.find('>', at);
    if (end != std::string_view::npos && svg.substr(end + 1).starts_with(kEnd)) {
      kept += svg.substr(begin, at - begin);
      begin = end + 1 + kEnd.size();
      at = begin - 1;
    }
  }
  return kept.append(svg.substr(begin));
}

/// Cuts the coordinates of paths and markers to a tenth of a pixel, of hundredths.
std::string with_short_numbers(std::string_view svg) {
  std::string kept;
  char attribute = '\0';  // the quote that ends it; none outside of paths and transforms
  for (std::size_t i = 0; i < svg.size(); ++i) {
    if (attribute == '\0') {
      const std::string_view before = svg.substr(0, i);
      const bool begins = before.ends_with(" d=") || before.ends_with(" transform=");
      attribute = begins ? svg[i] : '\0';
    } else if (svg[i] == attribute) {
      attribute = '\0';
    }
    const bool is_hundredth = attribute != '\0' && i >= 2 && svg[i - 2] == '.' &&
                              std::isdigit(static_cast<unsigned char>(svg[i])) != 0;
    if (!is_hundredth) {
      kept += svg[i];
    }
  }
  return kept;
}

/// Writes colours as "#d55e00" for "rgb(213,  94,   0)".
std::string with_short_colours(std::string_view svg) {
  constexpr std::string_view kOpening = "rgb(";
  std::string kept;
  std::size_t begin = 0;
  for (std::size_t at = svg.find(kOpening); at != std::string_view::npos;
       at = svg.find(kOpening, begin)) {
    std::array<int, 3> parts{};
    const std::string text(svg.substr(at, 24));
    // NOLINTNEXTLINE(cert-err34-c,cppcoreguidelines-pro-type-vararg): gnuplot's own numbers
    const int read = std::sscanf(
        text.c_str(), "rgb(%3d,%3d,%3d)", parts.data(), parts.data() + 1, parts.data() + 2);
    kept += svg.substr(begin, at - begin);
    begin = at;
    if (read == 3) {
      kept += fmt::format("#{:02x}{:02x}{:02x}", parts[0], parts[1], parts[2]);
      begin = svg.find(')', at) + 1;
    } else {
      kept += kOpening;
      begin += kOpening.size();
    }
  }
  return kept.append(svg.substr(begin));
}

}  // namespace

std::string inline_svg(std::string_view svg, const SvgNames& names) {
  constexpr std::string_view kOpening = "<svg";
  const std::size_t begin = svg.find(kOpening);
  if (begin == std::string_view::npos) {
    return {};
  }
  std::string body = with_short_numbers(without_empty_groups(svg.substr(begin + kOpening.size())));
  replace_all(body, "<title>Gnuplot</title>", "");
  for (const char* black : {"stroke='black'", "stroke=\"black\"", "stroke='rgb(  0,   0,   0)'"}) {
    replace_all(body, black, "stroke=\"currentColor\"");
  }
  replace_all(body, "color=\"black\"", "");
  replace_all(body, "fill=\"black\"", "fill=\"currentColor\"");
  replace_all(body, "fill = 'rgb(  0,   0,   0)'", "fill=\"currentColor\"");
  body = with_short_colours(body);
  for (const char* standard : {" stroke-linecap=\"butt\"", " stroke-linejoin=\"miter\""}) {
    replace_all(body, standard, "");
  }
  replace_all(body, "xlink:href", "href");
  replace_all(body, "<tspan font-family=\"sans-serif\" >", "<tspan>");
  for (const char* reference : {"id=\"", "id='", "href='#", "url(#"}) {
    replace_all(body, reference, fmt::format("{}{}-", reference, names.prefix));
  }
  return fmt::format("<svg role=\"img\" aria-label=\"{}\"{}", escape(names.description), body);
}

}  // namespace residuum::reports
