// Result folders: tables, JSON, and all of it together.

#include <array>
#include <cstddef>
#include <filesystem>
#include <string>

#include "core/error.h"
#include "reports/analysis/measures.h"
#include "reports/page/sections.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"
#include "reports/results/table_prints.h"
#include "reports/summaries/collect.h"
#include "reports/summaries/summary_json.h"
#include "reports/terminal/changes.h"
#include "reports/terminal/table.h"
#include "reports/verdicts/summary.h"
#include "tests/fuzzing/inputs.h"
#include "tests/fuzzing/targets.h"

namespace residuum::fuzzing {
namespace {

constexpr std::string_view kRunOfTables = "a-000000000000";

/// Every field of a table whose columns nobody knows.
void read_numbers(const std::filesystem::path& file) {
  reports::CsvReader reader(file);
  while (reader.next()) {
    for (std::size_t column = 0; column < reader.header().size(); ++column) {
      expect(reader.text(column).size() <= reader.record().size(), "a field is of its record");
      static_cast<void>(reader.number(column));
    }
  }
}

struct FolderPart {
  std::string_view name;
  const char* file;
};

/// Two runs, so that they can be grouped and compared.
constexpr auto kFolder = std::to_array<FolderPart>({
    {"study", "study.resolved.json"},
    {"config a", "runs/a-000000000000/config.json"},
    {"status a", "runs/a-000000000000/status.json"},
    {"iterations a", "runs/a-000000000000/iterations.csv"},
    {"checks a", "runs/a-000000000000/checks.csv"},
    {"layers a", "runs/a-000000000000/layers.csv"},
    {"staleness a", "runs/a-000000000000/staleness.csv"},
    {"magnitudes a", "runs/a-000000000000/magnitudes.csv"},
    {"config b", "runs/b-000000000000/config.json"},
    {"status b", "runs/b-000000000000/status.json"},
    {"iterations b", "runs/b-000000000000/iterations.csv"},
});

/// Gives a status or a configuration the print that belongs to it, so that what it says is read.
std::string printed(std::string_view text) {
  try {
    const reports::Json json = reports::read_json(scratch().write("unprinted.json", text));
    return json.is_object() ? reports::with_print(json).dump() : std::string(text);
  } catch (const Error&) {
    return std::string(text);
  }
}

void make_folder(std::string_view bytes) {
  for (const char* run : {"runs/a-000000000000", "runs/b-000000000000"}) {
    std::filesystem::create_directories(scratch().path() / run);
  }
  const auto parts = parts_of(bytes);
  for (const auto& part : kFolder) {
    const auto found = parts.find(part.name);
    if (found == parts.end()) {
      scratch().remove(part.file);
    } else {
      const std::string_view file = part.file;
      const bool has_print = file.ends_with("config.json") || file.ends_with("status.json");
      scratch().write(part.file, has_print ? printed(found->second) : std::string(found->second));
    }
  }
}

}  // namespace

void take_table(std::string_view bytes) {
  const auto file = scratch().write("iterations.csv", bytes);
  try {
    read_numbers(file);
  } catch (const Error&) {  // then it may still be a table of iterations, up to some record
    static_cast<void>(file);
  }
  reports::MeasureTaker taker(100);
  reports::read_iterations(
      file, kRunOfTables, [&](const reports::IterationRecord& record) { taker.add(record); });
  static_cast<void>(taker.finish());
}

void take_json(std::string_view bytes) {
  const reports::Json json = reports::read_json(scratch().write("some.json", bytes));
  static_cast<void>(reports::number_at(json, "totals.delta"));
  static_cast<void>(reports::text_at(json, "state"));
  const std::string text = reports::plain_text(json);
  expect(reports::Json::parse(text).is_object(), "what is written of JSON is JSON");
}

void take_result_folder(std::string_view bytes) {
  make_folder(bytes);
  const reports::Summary summary = reports::summarise(scratch().path());
  reports::write_summary(summary, scratch().path() / "summary.json");
  static_cast<void>(reports::study_table(summary));
  static_cast<void>(reports::compare_folders(summary, summary, 0.05));
  static_cast<void>(reports::layers_html(summary));
  static_cast<void>(reports::late_table(summary));
  static_cast<void>(reports::plan_staleness_figures(summary, reports::IntervalKind::quartiles));
  static_cast<void>(reports::plan_magnitude_figures(summary, reports::IntervalKind::quartiles));
  if (std::filesystem::exists(scratch().path() / "runs/a-000000000000/checks.csv")) {
    static_cast<void>(reports::collect(scratch().path()));
  }
}

}  // namespace residuum::fuzzing
