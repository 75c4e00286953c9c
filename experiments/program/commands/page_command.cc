// `residuum page` makes the tables of pages from kept results, or says which are stale.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/output_file.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/page_tables.h"
#include "experiments/program/console/streams.h"

namespace residuum {

namespace {

void print_stale_table(const StaleTable& stale) {
  fmt::print("{} is stale\n  is:      {}\n  must be: {}\n",
             harmless(stale.place),
             stale.is.empty() ? "(no line)" : harmless(stale.is),
             stale.must.empty() ? "(no line)" : harmless(stale.must));
}

void write_page(const std::filesystem::path& file, const std::string& text) {
  AtomicFile out{OutputPath(file)};
  out.append(text);
  out.commit();
}

/// Returns whether tables of the page are stale.
bool makes_or_checks(const std::filesystem::path& file, bool checks) {
  const PageTables page = tables_of_page(file);
  if (checks) {
    std::for_each(page.stale.begin(), page.stale.end(), print_stale_table);
  } else if (!page.stale.empty()) {
    write_page(file, page.text);
  }
  fmt::print("{}: {} table{}, {} {}\n",
             harmless(file.string()),
             page.tables,
             page.tables == 1 ? "" : "s",
             page.stale.size(),
             checks ? "stale" : "made anew");
  return !page.stale.empty();
}

}  // namespace

ExitCode page_command(const Options& options) {
  bool any_stale = false;
  std::optional<Error> refused;
  for (const auto& file : options.pages) {
    try {
      any_stale = makes_or_checks(file, options.check_pages) || any_stale;
    } catch (const Error& error) {  // the other pages are looked at all the same
      if (refused) {
        say(fmt::format("error: {}", refused->what()));
      }
      refused = error;
    }
  }
  if (refused) {
    throw Error(*refused);
  }
  return options.check_pages && any_stale ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace residuum
