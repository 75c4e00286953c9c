// `residuum epochs` prints loss, delta, contraction and accuracy of every run by epoch, as CSV.

#include <fmt/format.h>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "reports/exports/epoch_table.h"

namespace residuum {

ExitCode epochs_command(const Options& options) {
  const KeepOptions& given = options.keep;
  require(!given.parts || *given.parts >= 1,
          "--parts is {}, but must be 1 or more",
          given.parts.value_or(0));
  const auto table = reports::epoch_table_of(given.results, given.parts);
  fmt::print("{}", harmless_lines(reports::csv_text(table)));
  return ExitCode::done;
}

}  // namespace residuum
