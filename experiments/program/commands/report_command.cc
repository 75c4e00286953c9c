// `residuum report` makes report.html, figures and tables from a result folder, or from several
// that are read as one.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/report_options.h"
#include "experiments/program/console/streams.h"
#include "reports/page/report.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"
#include "reports/summaries/collect.h"
#include "reports/terminal/verdict_lines.h"

namespace residuum {
namespace {

reports::TableChoice choice_of(const ReportOptions& given) {
  reports::TableChoice choice{
      .budgets = {}, .columns = given.columns, .digits = given.digits, .wide = given.wide};
  for (const auto& text : given.budgets) {
    choice.budgets.push_back(byte_amount(text, "--at"));
  }
  return choice;
}

/// True for a folder that an earlier report was written to: its note on the sources is ours. One of
/// another schema is a usage error.
bool holds_report(const std::filesystem::path& folder) {
  const auto file = folder / reports::kSources;
  reports::Json note;
  try {
    note = reports::read_json(file);
  } catch (const Error&) {
    return false;
  }
  if (!reports::value_at(note, "folders").is_array()) {
    return false;
  }
  reports::require_own_schema(note, file);
  return true;
}

/// Returns the folder of tables and report: that of the results, or one that --out names, which is
/// new, empty, or holds a report that was written like this one.
std::filesystem::path target_of(const Options& options) {
  if (!options.out) {
    require(options.result_dirs.size() == 1,
            "several folders: name the folder of their report with --out");
    return options.result_dirs.front();
  }
  std::error_code ignored;
  require(!std::filesystem::exists(*options.out) ||
              std::filesystem::is_empty(*options.out, ignored) || holds_report(*options.out),
          "--out: '{}' is not empty and holds no report of other folders; name another",
          options.out->string());
  make_folder(OutputPath::named(*options.out));
  return *options.out;
}

/// Notes from which folders the report was made.
void write_sources(const std::filesystem::path& target,
                   const std::vector<std::filesystem::path>& sources) {
  auto folders = reports::Json::array();
  for (const auto& source : sources) {
    folders.push_back(source.string());
  }
  reports::write_json_atomically(
      target / reports::kSources,
      {{"schema", reports::kResultSchema}, {"folders", std::move(folders)}});
}

}  // namespace

ExitCode report_command(const Options& options) {
  if (options.theorem) {
    std::vector<std::string> known;
    for (const auto& theorem : theorems()) {
      known.emplace_back(theorem.name);
    }
    require(find_theorem(*options.theorem) != nullptr,
            "unknown theorem '{}'{}",
            *options.theorem,
            suggestion(*options.theorem, known));
  }
  const auto kind = interval_kind(options.interval);
  const auto choice = choice_of(options.report);
  auto folder = reports::read_result_folders(options.result_dirs);
  folder.path = target_of(options);
  if (options.out) {
    write_sources(folder.path, folder.sources);
  }
  const auto summary = reports::collect(std::move(folder));
  const auto report = reports::write_report(summary, kind, choice);
  for (const auto& problem : report.problems) {
    say(fmt::format("note: {}", problem));
  }
  if (options.theorem) {
    fmt::print("{}", reports::theorem_text(summary, *options.theorem));
  }
  print_path(report.file);
  return ExitCode::done;
}

}  // namespace residuum
