#include "reports/page/svg_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <optional>

namespace residuum::reports {
namespace {

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
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return std::llround(value * 10);
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

}  // namespace residuum::reports
