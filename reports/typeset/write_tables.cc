#include "reports/typeset/write_tables.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>

#include "reports/tables/files.h"
#include "reports/typeset/latex_table.h"

namespace residuum::reports {
namespace {

/// Returns whether a file is a table as this program names them.
bool is_table(const std::filesystem::path& file) {
  constexpr std::array<std::string_view, 3> kEndings{".csv", ".md", ".tex"};
  constexpr std::array<std::string_view, 7> kNames{
      "results", "equal-", "at-bytes", "time-to-target-", "network-times", "rates", "expected"};
  const std::string stem = file.stem().string();
  return std::find(kEndings.begin(), kEndings.end(), file.extension().string()) != kEndings.end() &&
         std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
           return stem.starts_with(name);
         });
}

/// Removes tables that must not pass for today's.
void remove_old(const OutputPath& folder) {
  std::error_code ignored;
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(), ignored)) {
    if (is_table(entry.path())) {
      old.push_back(entry.path().filename());
    }
  }
  for (const auto& file : old) {
    remove_file(folder / file);
  }
}

}  // namespace

void write_tables(const std::vector<TableSpec>& specs,
                  const std::vector<TableSpec>& printed,
                  const OutputPath& folder) {
  make_folder(folder);
  remove_old(folder);
  for (const auto& spec : specs) {
    write_file_atomically(folder / (spec.name + ".csv"), table_csv(spec));
  }
  for (const auto& spec : printed) {
    write_file_atomically(folder / (spec.name + ".md"), table_markdown(spec));
    write_file_atomically(folder / (spec.name + ".tex"), table_latex(spec));
    write_file_atomically(folder / (spec.name + ".caption.tex"), table_caption_latex(spec));
  }
}

}  // namespace residuum::reports
