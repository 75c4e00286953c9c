// residuum-report DIR: what `residuum report DIR` does, as a program of its own that needs neither
// MPI nor libtorch, for machines that only read results.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "experiments/commands.h"

int main(int argc, char** argv) {
  residuum::Options options;
  CLI::App app("Makes report.html, figures and tables from a residuum result folder");
  app.add_option("DIR", options.result_dir, "the result folder of a study")->required();
  app.add_option("--theorem", options.theorem, "say how this theorem was judged, by method");
  try {
    app.parse(argc, argv);
    return static_cast<int>(residuum::report_command(options));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(residuum::ExitCode::usage);
  } catch (const residuum::Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {}\n", error.what());
    return static_cast<int>(residuum::ExitCode::internal);
  }
}
