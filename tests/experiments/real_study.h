#pragma once
// A study over real processes, and ways to start it under mpirun.

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/experiments/resume.h"
#include "tests/experiments/tiny_study.h"

namespace residuum {

/// A study of four workers; the lines stand in [protocol].
inline std::string real_study(const std::string& protocol, int iterations) {
  return fmt::format(R"(schema = 1
name = "tiny"
[objective]
kind = "quadratic"
dimension = 200
[workers]
count = 4
[sparsifier]
kind = "top-k"
k = 5
[aggregator]
kind = "allgather"
[step]
value = 0.01
[budget]
iterations = {}
[protocol]
execution = "real"
{}
)",
                     iterations,
                     protocol);
}

/// Column of a table by name, as text.
inline std::vector<std::string> column(const std::string& table, const std::string& name) {
  std::istringstream lines(table);
  std::string line;
  const auto cells = [&] {
    std::vector<std::string> row;
    std::istringstream cells_of_line(line);
    for (std::string cell; std::getline(cells_of_line, cell, ',');) {
      row.push_back(cell);
    }
    row.resize(row.size() + (line.ends_with(',') ? 1 : 0));  // an empty last cell
    return row;
  };
  std::getline(lines, line);
  const auto head = cells();
  const auto place =
      static_cast<std::size_t>(std::find(head.begin(), head.end(), name) - head.begin());
  std::vector<std::string> values;
  while (std::getline(lines, line)) {
    values.push_back(cells().at(place));
  }
  return values;
}

class RealRuns : public TinyStudy {
 protected:
  /// Returns the command that runs a study of the folder on `processes` processes.
  static std::vector<std::string> command(int processes,
                                          const std::vector<std::string>& options = {}) {
    std::vector<std::string> arguments{
        RESIDUUM_MPIRUN, "-n", std::to_string(processes), RESIDUUM_PROGRAM, "run", "s.toml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return arguments;
  }
  Finished run_on(int processes, const std::string& study) const {
    folder_.write("s.toml", study);
    return run_program(command(processes), folder_.path());
  }
  std::string iterations() const { return read_text(results() / "iterations.csv"); }

  /// The folder of the only run, which has begun.
  std::filesystem::path only_run() const {
    return std::filesystem::directory_iterator(results() / "runs")->path();
  }
};

}  // namespace residuum
