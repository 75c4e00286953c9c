#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <optional>

#include "core/text.h"
#include "reports/page/figure_writer.h"
#include "reports/page/html.h"

namespace residuum::reports {
namespace {

// --- Paths in few bytes --------------------------------------------------------------------------

/// A PathPoint is a place in tenths of a pixel.
struct PathPoint {
  std::int64_t x = 0;
  std::int64_t y = 0;
};

void skip_any(std::string_view& text, std::string_view characters) {
  text.remove_prefix(std::min(text.size(), text.find_first_not_of(characters)));
}

std::optional<std::int64_t> read_tenths(std::string_view& text) {
  skip_any(text, " \t\n,");
  const auto found = leading_number<double>(text);
  if (!found) {
    return std::nullopt;
  }
  text = found->rest;
  return std::llround(found->number * 10);
}

std::optional<PathPoint> read_point(std::string_view& text) {
  const auto x = read_tenths(text);
  const auto y = x ? read_tenths(text) : std::nullopt;
  return y ? std::optional(PathPoint{*x, *y}) : std::nullopt;
}

/// Appends "-3.2", "4" or "0.5" after a space where the number would run into the one before it.
void append_tenths(std::string& out, std::int64_t tenths) {
  const bool follows_number = !out.empty() && out.back() >= '0' && out.back() <= '9';
  if (follows_number && tenths >= 0) {
    out += ' ';
  }
  fmt::format_to(std::back_inserter(out), "{}{}", tenths < 0 ? "-" : "", std::abs(tenths) / 10);
  if (tenths % 10 != 0) {
    fmt::format_to(std::back_inserter(out), ".{}", std::abs(tenths) % 10);
  }
}

/// ShortPath writes a path; the place where it is has been rounded once only.
class ShortPath {
 public:
  void move_to(const PathPoint& point) {
    out_ += 'M';
    append(point);
    start_ = here_ = point;
    is_in_line_ = false;
  }
  void line_to(const PathPoint& point) {
    if (!is_in_line_) {
      out_ += 'l';
    }
    append({point.x - here_.x, point.y - here_.y});
    here_ = point;
    is_in_line_ = true;
  }
  void close() {
    out_ += 'z';
    here_ = start_;
    is_in_line_ = false;
  }
  const std::string& text() const { return out_; }

 private:
  void append(const PathPoint& point) {
    append_tenths(out_, point.x);
    append_tenths(out_, point.y);
  }

  std::string out_;
  PathPoint start_;
  PathPoint here_;
  bool is_in_line_ = false;
};

}  // namespace

std::string short_path(std::string_view data) {
  ShortPath path;
  std::string_view rest = data;
  for (skip_any(rest, " \t\n"); !rest.empty(); skip_any(rest, " \t\n")) {
    const char command = rest.front();
    rest.remove_prefix(1);
    if (command == 'z' || command == 'Z') {
      path.close();
      continue;
    }
    const auto point = command == 'M' || command == 'L' ? read_point(rest) : std::nullopt;
    if (!point) {
      return std::string(data);
    }
    if (command == 'M') {
      path.move_to(*point);
    } else {
      path.line_to(*point);
    }
  }
  return path.text();
}

std::string path_of_points(std::string_view points) {
  ShortPath path;
  std::string_view rest = points;
  bool is_first = true;
  while (const auto point = read_point(rest)) {
    if (is_first) {
      path.move_to(*point);
    } else {
      path.line_to(*point);
    }
    is_first = false;
  }
  path.close();
  return path.text();
}

// --- Drawings as parts of a page
// ------------------------------------------------------------------

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

/// Writes every `before`...quote anew, where a quote is the last character of `before`.
template <typename Rewrite>
std::string with_attributes(std::string_view svg, std::string_view before, Rewrite rewrite) {
  std::string kept;
  std::size_t begin = 0;
  for (std::size_t at = svg.find(before); at != std::string_view::npos;
       at = svg.find(before, begin)) {
    const std::size_t value = at + before.size();
    const std::size_t end = std::min(svg.size(), svg.find(before.back(), value));
    kept += svg.substr(begin, at - begin);
    kept += rewrite(svg.substr(value, end - value));
    begin = std::min(svg.size(), end + 1);
  }
  return kept.append(svg.substr(begin));
}

/// Writes paths in steps, and polygons, of which gnuplot makes the bands, as paths.
std::string with_short_paths(std::string_view svg) {
  const auto path = [](const std::string& data) { return " d='" + data + '\''; };
  const std::string text =
      with_attributes(svg, " d='", [&](std::string_view data) { return path(short_path(data)); });
  std::string paths = with_attributes(
      text, " points = '", [&](std::string_view points) { return path(path_of_points(points)); });
  replace_all(paths, "<polygon", "<path");
  return paths;
}

/// Cuts the coordinates of markers and texts to a tenth of a pixel, of hundredths.
std::string with_short_places(std::string_view svg) {
  const auto cut = [](std::string_view transform) {
    std::string kept;
    for (std::size_t i = 0; i < transform.size(); ++i) {
      const bool is_hundredth = i >= 2 && transform[i - 2] == '.' &&
                                std::isdigit(static_cast<unsigned char>(transform[i])) != 0;
      if (!is_hundredth) {
        kept += transform[i];
      }
    }
    return kept;
  };
  const std::string text = with_attributes(svg, " transform='", [&](std::string_view transform) {
    return fmt::format(" transform='{}'", cut(transform));
  });
  return with_attributes(text, " transform=\"", [&](std::string_view transform) {
    return fmt::format(" transform=\"{}\"", cut(transform));
  });
}

/// Leaves out the markers and filters that gnuplot defines and the drawing does not use. A marker
/// may be made of one before it.
std::string without_unused_definitions(std::string svg) {
  if (svg.find("</defs>") == std::string::npos) {
    return svg;
  }
  const auto drop_unused = [&](std::string_view opening, std::string_view closing) {
    for (std::size_t at = svg.rfind(opening, svg.find("</defs>")); at != std::string::npos;
         at = at == 0 ? std::string::npos : svg.rfind(opening, at - 1)) {
      const std::size_t id = svg.find("id='", at) + 4;
      const std::string name = '#' + svg.substr(id, svg.find('\'', id) - id);
      const std::size_t end = svg.find(closing, at);
      const bool is_used =
          svg.find(name + '\'') != std::string::npos || svg.find(name + ')') != std::string::npos;
      if (end != std::string::npos && !is_used) {
        svg.erase(at, end + closing.size() - at);
      }
    }
  };
  drop_unused("\t<filter id='", "</filter>\n");
  for (const char* opening : {"\t<use ", "\t<circle id='", "\t<rect id='", "\t<path id='"}) {
    drop_unused(opening, "/>\n");
  }
  return svg;
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
  std::string body = with_short_places(with_short_paths(
      without_unused_definitions(without_empty_groups(svg.substr(begin + kOpening.size())))));
  replace_all(body, "<title>Gnuplot</title>", "");
  for (const char* black : {"stroke='black'", "stroke=\"black\"", "stroke='rgb(  0,   0,   0)'"}) {
    replace_all(body, black, "stroke=\"currentColor\"");
  }
  replace_all(body, "color=\"black\"", "");
  replace_all(body, "fill=\"black\"", "fill=\"currentColor\"");
  replace_all(body, "fill = 'rgb(  0,   0,   0)'", "fill=\"currentColor\"");
  replace_all(body, "fill=\"rgb(96,96,96)\"", "fill=\"currentColor\"");  // notes, on dark pages too
  body = with_short_colours(body);
  // The style sheet has the font of drawings; the others are SVG's own standard.
  for (const char* standard : {" stroke-linecap=\"butt\"",
                               " stroke-linejoin=\"miter\"",
                               " font-family=\"sans-serif\"",
                               " font-size=\"14.00\"",
                               " text-anchor=\"start\""}) {
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
