#pragma once
// Runs whose f falls along a straight line, so that what they had reached and spent can be followed
// by hand.

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"
#include "reports/results/run_facts.h"
#include "reports/results/table_prints.h"

namespace residuum::reports::testing {

/// f(w_t) = start - fall t + seed / 100, every second iteration evaluated.
struct StraightMethod {
  std::string aggregator;
  std::uint64_t iterations = 10;
  double fall = 0.01;
  std::optional<double> bytes = 100;  // per iteration
  bool has_totals = false;            // a running total of the bytes
  std::optional<double> time = std::nullopt;
  std::string objective = "logistic";
  std::uint64_t measured_every = 1;
  int seeds = 2;
  double start = 1;
  int workers = 0;  // P, of batches of 32; 0: not said
};

inline double straight_loss(const StraightMethod& method, std::uint64_t t, int seed) {
  return method.start - method.fall * static_cast<double>(t) + seed / 100.0;
}

inline std::string straight_id(std::size_t method, int seed) {
  return fmt::format("m{}-{:012x}", method, method * 100 + static_cast<std::size_t>(seed));
}

inline void write_straight_run(const std::filesystem::path& folder,
                               const StraightMethod& method,
                               const std::string& id,
                               int seed) {
  const auto path = folder / "runs" / id;
  std::filesystem::create_directories(path);
  Json config{{"run_id", id}, {"study", "s"}, {"seed", seed}};
  config["varying"] = Json{{"aggregator.kind", method.aggregator}};
  config["config"] = Json{{"aggregator", Json{{"kind", method.aggregator}}},
                          {"objective", Json{{"kind", method.objective}, {"data", "a9a"}}}};
  if (method.workers > 0) {
    config["config"]["workers"] = Json{{"count", method.workers}, {"batch", 32}};
    config["varying"]["workers.count"] = method.workers;
  }
  write_json_atomically(path / "config.json", with_print(config));
  IterationsWriter rows(path / "iterations.csv", id);
  for (std::uint64_t t = 0; t < method.iterations; t += method.measured_every) {
    Row row(t);
    if (t % 2 == 0) {
      row.set(Column::loss, straight_loss(method, t, seed));
    }
    if (method.bytes) {
      row.set(Column::sent_bytes, *method.bytes);
      if (method.has_totals) {
        row.set(Column::total_sent_bytes, *method.bytes * static_cast<double>(t + 1));
      }
    }
    if (method.time) {
      row.set(Column::model_time_s, *method.time);
    }
    rows.write(row);
  }
  rows.close();
  ChecksWriter(path / "checks.csv", id).close();
  Json status{{"state", "finished"}, {"message", ""}, {"iterations", method.iterations}};
  write_run_facts(read_run_facts({}, Json::object()), status);  // which claims nothing
  status["final"] = Json{{"loss", straight_loss(method, method.iterations, seed)}};
  write_json_atomically(path / "status.json", with_print(status));
}

inline void write_straight(const std::filesystem::path& folder,
                           const std::vector<StraightMethod>& methods) {
  Json runs = Json::array();
  for (std::size_t m = 0; m < methods.size(); ++m) {
    for (int seed = 1; seed <= methods[m].seeds; ++seed) {
      write_straight_run(folder, methods[m], straight_id(m, seed), seed);
      runs.push_back(straight_id(m, seed));
    }
  }
  Json study{{"schema", kResultSchema}, {"name", "s"}, {"title", "s"}, {"command", ""}};
  study["runs"] = runs;
  write_json_atomically(folder / "study.resolved.json", study);
}

}  // namespace residuum::reports::testing
