// `residuum figure` draws one figure of a result folder or of kept tables, with chosen methods, in
// the size that it has in a paper or a talk, or with all its files as the report has it.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/report_options.h"
#include "experiments/program/console/streams.h"
#include "reports/figures/draw.h"
#include "reports/figures/drawn_text.h"
#include "reports/figures/latex_text.h"
#include "reports/figures/paper_figure.h"
#include "reports/page/figure_choice.h"
#include "reports/results/result_folder.h"

namespace residuum {
namespace {

/// A LengthUnit is a unit of lengths, in millimetres. A point is that of TeX.
struct LengthUnit {
  std::string_view name;
  double millimetres;
};
constexpr std::array<LengthUnit, 4> kUnits{
    {{"mm", 1}, {"cm", 10}, {"in", 25.4}, {"pt", 25.4 / 72.27}}};

/// Returns whether a length is in the range, whose ends may be written in another unit.
bool is_within(double length, double least, double most) {
  constexpr double kRounding = 1e-9;
  return length >= least * (1 - kRounding) && length <= most * (1 + kRounding);
}

/// Reads "84mm" or "3.25in" and returns millimetres.
double length_in(const std::string& text, std::string_view option, std::string_view example) {
  if (const auto found = leading_number<double>(text); found && std::isfinite(found->number)) {
    for (const auto& unit : kUnits) {
      if (found->rest == unit.name) {
        return found->number * unit.millimetres;
      }
    }
  }
  usage_error(
      "{} is '{}', but must be a length in mm, cm, in or pt, such as {}", option, text, example);
}

/// Returns the size that --for names, or that of a usual column with what --width and --font-size
/// change.
reports::PaperSize size_of(const FigureOptions& given) {
  reports::PaperSize size;
  require(!given.format || (!given.width && !given.font_size),
          "--for says the width and the letters of a paper; leave out --for or {}",
          given.width ? "--width" : "--font-size");
  if (given.format) {
    std::vector<std::string> known;
    bool is_known = false;
    for (const auto& format : reports::paper_formats()) {
      known.emplace_back(format.name);
      if (format.name == *given.format) {
        size = format.size;
        is_known = true;
      }
    }
    require(is_known, "--for: unknown '{}'{}", *given.format, suggestion(*given.format, known));
  }
  if (given.width) {
    size.width_mm = length_in(*given.width, "--width", "84mm");
    require(
        is_within(size.width_mm, reports::kLeastFigureWidth, reports::kMostFigureWidth),
        "--width is {}, but must be from {} mm to {} mm: nothing can be read in a narrower figure",
        *given.width,
        reports::kLeastFigureWidth,
        reports::kMostFigureWidth);
  }
  if (given.font_size) {
    constexpr double kPointsPerMillimetre = 72.27 / 25.4;
    size.font_pt = kPointsPerMillimetre * length_in(*given.font_size, "--font-size", "8pt");
    require(is_within(size.font_pt, reports::kLeastFigureFont, reports::kMostFigureFont),
            "--font-size is {}, but must be from {} pt to {} pt",
            *given.font_size,
            reports::kLeastFigureFont,
            reports::kMostFigureFont);
  }
  return size;
}

/// Plans the figure of a result folder or of a kept study.
reports::FigureSpec plan(const FigureOptions& given, reports::IntervalKind kind) {
  if (reports::is_kept_folder(given.folder)) {
    require(!given.by && given.methods.empty(),
            "{} has kept tables: choose methods with --where; their figures have an axis of their "
            "own",
            given.folder.string());
    return reports::plan_kept_figure(
        given.folder, {.figure = given.quantity, .where = given.where, .kind = kind});
  }
  require(given.where.empty(), "--where is for kept tables; name methods with --methods");
  const auto folder = reports::read_result_folders({given.folder});
  const reports::FigureChoice choice{
      .quantity = given.quantity, .by = given.by, .methods = given.methods, .kind = kind};
  auto spec = reports::plan_chosen_figure(folder, choice).spec;
  const auto missing = reports::methods_not_drawn(folder, choice, spec);
  if (!missing.empty()) {
    say(fmt::format("note: not drawn, with no value of '{}' on these axes: {}",
                    given.quantity,
                    fmt::join(missing, "; ")));
  }
  for (const auto& [word, whole] : reports::cut_words_in(folder, spec)) {
    say(fmt::format("note: in names {} is {}", word, whole));
  }
  return spec;
}

/// Writes the files that the report has of a figure or a heat map.
template <typename Figure>
void write_figure_files(const Figure& spec, const std::filesystem::path& folder) {
  const auto drawn = reports::draw(spec, OutputPath::named(folder));
  if (!drawn.problem.empty()) {
    resource_error("'{}' has tables and scripts of '{}', but no drawing: {}",
                   folder.string(),
                   spec.name,
                   drawn.problem);
  }
}

/// Says what a caption must say of the drawing.
void say_notes(const reports::FigureSpec& spec) {
  constexpr std::size_t kMany = 8;
  if (const std::string note = reports::note_under(spec); !note.empty()) {
    say(fmt::format("note: for the caption: {}", note));
  }
  if (spec.curves.size() > kMany) {
    say(fmt::format("note: {} curves in one figure; choose some with --methods",
                    spec.curves.size()));
  }
}

/// Says which characters a PDF or pdfLaTeX has no letters for.
void say_glyphs(const std::string& texts, const std::filesystem::path& file) {
  const bool is_folder = !file.has_filename();
  const auto in_pdf = reports::unknown_glyphs(texts);
  if (!in_pdf.empty() && (is_folder || file.extension() == ".pdf")) {
    say(
        fmt::format("note: fonts of PDF figures may lack {}; the PDF has ? there, .svg and .tex "
                    "for LuaLaTeX have them",
                    fmt::join(in_pdf, " ")));
  }
  const auto in_latex = reports::unprinted_by_pdflatex(texts);
  if (!in_latex.empty() && (is_folder || file.extension() == ".tex")) {
    say(fmt::format("note: pdfLaTeX prints ? for {}; LuaLaTeX and XeLaTeX print them",
                    fmt::join(in_latex, " ")));
  }
}

/// Returns all that stands in a figure.
std::string texts_of(const reports::FigureSpec& spec) {
  std::string texts = spec.x_label + spec.y_label;
  for (std::size_t i = 0; i < spec.curves.size(); ++i) {
    texts += reports::legend_label(spec, i);
  }
  return texts;
}

std::string texts_of(const reports::HeatMap& map) {
  return fmt::format("{}{}{}{}{}",
                     map.title,
                     map.row_title,
                     map.column_title,
                     fmt::join(map.rows, ""),
                     fmt::join(map.columns, ""));
}

/// Writes a figure or a heat map.
template <typename Figure>
void write_figure(Figure figure, const std::filesystem::path& file) {
  say_glyphs(texts_of(figure), file);
  if (!file.has_filename()) {
    write_figure_files(figure, file);
  } else {
    reports::write_paper_figure(std::move(figure), file);
  }
  print_path(file);
}

/// Returns the heat map that was asked for; nothing where it is none.
std::optional<reports::HeatMap> plan_map(const FigureOptions& given) {
  if (!reports::may_be_map(given.quantity) || reports::is_kept_folder(given.folder)) {
    return std::nullopt;
  }
  return reports::plan_chosen_map(
      reports::read_result_folders({given.folder}),
      {.quantity = given.quantity, .by = given.by, .methods = given.methods});
}

}  // namespace

ExitCode figure_command(const Options& options) {
  const FigureOptions& given = options.figure;
  const reports::PaperSize size = size_of(given);
  const auto kind = interval_kind(options.interval);
  reports::require_figure_file(given.file);
  const bool is_sized = given.file.has_filename() || given.format || given.width || given.font_size;
  if (auto map = plan_map(given)) {
    require(given.where.empty(), "--where is for kept tables; a heat map has all methods");
    if (is_sized) {
      map->paper = size;
      reports::require_figure_room(*map);
      say(fmt::format("note: for the caption: {}", map->title));
    }
    write_figure(*std::move(map), given.file);
    return ExitCode::done;
  }
  auto spec = plan(given, kind);
  if (is_sized) {
    spec.paper = size;
    reports::require_figure_room(spec);
    say_notes(spec);
  }
  write_figure(std::move(spec), given.file);
  return ExitCode::done;
}

}  // namespace residuum
