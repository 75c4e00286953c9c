// `residuum page` makes the tables of pages from kept results, or says which are stale.

#include <fmt/format.h>

#include "core/error.h"
#include "core/output_file.h"
#include "core/text.h"
#include "experiments/commands/commands.h"
#include "experiments/commands/page_tables.h"

namespace residuum {

ExitCode page_command(const Options& options) {
  bool any_stale = false;
  for (const auto& file : options.pages) {
    const PageTables page = tables_of_page(file);
    for (const auto& stale : page.stale) {
      if (!options.check_pages) {
        break;  // it is made anew
      }
      fmt::print("{} is stale\n  is:      {}\n  must be: {}\n",
                 harmless(stale.place),
                 stale.is.empty() ? "(no line)" : harmless(stale.is),
                 stale.must.empty() ? "(no line)" : harmless(stale.must));
    }
    any_stale = any_stale || !page.stale.empty();
    if (!options.check_pages && !page.stale.empty()) {
      AtomicFile out{OutputPath(file)};
      out.append(page.text);
      out.commit();
    }
    fmt::print("{}: {} table{}, {} {}\n",
               harmless(file.string()),
               page.tables,
               page.tables == 1 ? "" : "s",
               page.stale.size(),
               options.check_pages ? "stale" : "made anew");
  }
  return options.check_pages && any_stale ? ExitCode::check_failed : ExitCode::done;
}

}  // namespace residuum
