#include "reports/figures/paper_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <system_error>

#include "core/error.h"
#include "core/text.h"
#include "reports/figures/draw.h"
#include "reports/figures/paper_layout.h"
#include "reports/figures/pgfplots.h"
#include "reports/results/files.h"

namespace residuum::reports {
namespace {

// icml2024.sty: columns of 3.25 in. IEEEtran: columns of 252 pt, which are 3.5 in. beamer: text
// of 307.3 pt, which are 108.0 mm, and more with aspectratio=169.
constexpr std::array<PaperFormat, 3> kFormats{
    {{.name = "icml", .size = {.width_mm = 82.5, .font_pt = 8}},
     {.name = "ieee", .size = {.width_mm = 88.9, .font_pt = 8}},
     {.name = "slides", .size = {.width_mm = 107, .font_pt = 9}}}};

/// A ScratchFolder is an empty folder that goes with the object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "residuum-figure-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      resource_error("no folder can be made in '{}'",
                     std::filesystem::temp_directory_path().string());
    }
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ScratchFolder(ScratchFolder&&) = delete;
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

bool is_plain_or_new(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

/// Returns whether the file is new, or the numbers of a figure.
bool is_new_or_numbers(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return true;
  }
  std::ifstream in(file, std::ios::binary);
  std::string header;
  std::getline(in, header);
  header += '\n';
  return in && (header == figure_csv({}) || header == heat_map_csv({}));
}

std::filesystem::path numbers_beside(std::filesystem::path file) {
  return file.replace_extension(".csv");
}

/// Gives the drawing the width that it has on paper; gnuplot leaves the size to who shows it.
std::string with_size(std::string svg, double width_mm) {
  constexpr std::string_view kBox = "viewBox=\"0 0 ";
  const std::size_t at = svg.find(kBox);
  if (at == std::string::npos) {
    return svg;
  }
  const auto width = leading_number<double>(std::string_view(svg).substr(at + kBox.size()));
  const auto height =
      width && !width->rest.empty() ? leading_number<double>(width->rest.substr(1)) : std::nullopt;
  if (!height || width->number <= 0) {
    return svg;
  }
  return svg.insert(at,
                    fmt::format("width=\"{:.4g}mm\" height=\"{:.4g}mm\" ",
                                width_mm,
                                width_mm * height->number / width->number));
}

/// Draws a figure or a heat map by gnuplot in a folder of its own, and moves the requested files
/// into their place.
template <typename Figure>
void write_drawing(Figure spec, const std::filesystem::path& file) {
  const bool is_pdf = file.extension() == ".pdf";
  spec.name = "figure";
  const ScratchFolder scratch;
  const DrawnFigure drawn = draw(spec, OutputPath::named(scratch.path()));
  if (!drawn.problem.empty()) {
    resource_error(
        "'{}' cannot be drawn: {}; a .tex file needs none", file.string(), drawn.problem);
  }
  if (is_pdf && !drawn.has_pdf) {
    resource_error("'{}' cannot be drawn: this gnuplot has no pdfcairo; ask for .svg or .tex",
                   file.string());
  }
  const double width = spec.paper.value_or(PaperSize{}).width_mm;
  write_file_atomically(
      file, is_pdf ? read_file(scratch.path() / "figure.pdf") : with_size(drawn.svg, width));
}

}  // namespace

std::span<const PaperFormat> paper_formats() { return kFormats; }

void require_figure_file(const std::filesystem::path& file) {
  if (!file.empty() && !file.has_filename()) {
    return;
  }
  const std::string ending = file.extension().string();
  require(ending == ".pdf" || ending == ".svg" || ending == ".tex",
          "figure '{}' must end in .pdf, .svg or .tex, or in / for a folder",
          file.string());
  require(is_plain_or_new(file), "figure '{}' is no plain file; name another", file.string());
  const auto folder = file.parent_path();
  std::error_code ignored;
  require(folder.empty() || std::filesystem::is_directory(folder, ignored),
          "figure: there is no folder '{}'",
          folder.string());
  if (ending != ".tex") {
    return;
  }
  constexpr std::string_view kReadByTex =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+._";
  const std::string stem = file.stem().string();
  require(stem.find_first_not_of(kReadByTex) == std::string::npos,
          "figure '{}': TeX needs a name of letters, digits, -, _ and .",
          file.string());
  const auto numbers = numbers_beside(file);
  require(is_plain_or_new(numbers) && is_new_or_numbers(numbers),
          "figure '{}' would take the place of '{}', which is no figure's; name another",
          file.string(),
          numbers.string());
}

void require_figure_room(const FigureSpec& spec) {
  const PaperSize size = spec.paper.value_or(PaperSize{});
  const double least = least_paper_width(spec, size.font_pt);
  require(
      size.width_mm >= least,
      "--width: {:.4g} mm are too narrow for this figure: its axes and labels need {:.0f} mm in "
      "letters of {:.3g} pt; name a greater width, a smaller --font-size or shorter labels",
      size.width_mm,
      least,
      size.font_pt);
}

void require_figure_room(const HeatMap& map) {
  const PaperSize size = map.paper.value_or(PaperSize{});
  const double least = least_map_width(map, size.font_pt);
  require(
      size.width_mm >= least,
      "--width: {:.4g} mm are too narrow for this heat map: the numbers in its cells need {:.0f} "
      "mm in letters of {:.3g} pt; name a greater width or a smaller --font-size",
      size.width_mm,
      least,
      size.font_pt);
}

void write_paper_figure(FigureSpec spec, const std::filesystem::path& file) {
  require_figure_file(file);
  require_figure_room(spec);
  if (file.extension() != ".tex") {
    write_drawing(std::move(spec), file);
    return;
  }
  spec.name = file.stem().string();
  write_file_atomically(numbers_beside(file), figure_csv(spec));
  write_file_atomically(file, figure_tex(spec));
}

void write_paper_figure(HeatMap map, const std::filesystem::path& file) {
  require_figure_file(file);
  require_figure_room(map);
  if (file.extension() != ".tex") {
    write_drawing(std::move(map), file);
    return;
  }
  map.name = file.stem().string();
  write_file_atomically(numbers_beside(file), heat_map_csv(map));
  write_file_atomically(file, heat_map_tex(map));
}

}  // namespace residuum::reports
