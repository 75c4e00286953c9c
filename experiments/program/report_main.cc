// `residuum-report DIR...` does what `residuum report DIR...` does, without MPI or libtorch, for
// machines that only read results.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "experiments/program/commands/commands.h"
#include "experiments/program/commands/report_options.h"
#include "experiments/program/console/streams.h"

int main(int argc, char** argv) {
  using residuum::ExitCode;
  residuum::hold_standard_streams();
  residuum::Options options;
  CLI::App app("Makes report.html, figures and tables from result folders of residuum");
  residuum::add_report(app, options);
  try {
    app.parse(argc, argv);
    return static_cast<int>(residuum::flush_output(residuum::report_command(options)));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);  // --help
      return static_cast<int>(residuum::flush_output(ExitCode::done));
    }
    residuum::say(fmt::format("error: {}; see residuum-report --help", error.what()));
    return static_cast<int>(ExitCode::usage);
  } catch (const std::exception&) {
    return static_cast<int>(residuum::say_what_was_caught());
  }
}
