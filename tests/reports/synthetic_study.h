#pragma once
// A result folder as the program would leave it, with numbers made by formula, in a folder of its
// own that goes when the test does.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include "core/record/record.h"
#include "reports/results/csv.h"
#include "reports/results/files.h"
#include "reports/results/result_folder.h"
#include "reports/results/run_facts.h"
#include "reports/results/table_prints.h"

namespace residuum::reports::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "residuum-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      ADD_FAILURE() << "no temporary folder: " << name;
    }
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct SyntheticMethod {
  std::string aggregator = "gtopk-tree";
  std::string putback = "captured";
  double density = 0.01;
  double delta_peak = 0.98;  // the largest delta, in the middle of the run
  bool leaks = false;
  int workers = 0;  // P; 0: not said, and not varying in the study
  /// The change that a test makes to the row of an iteration.
  std::function<void(Row& row, int seed)> change = nullptr;
  std::string execution = "";  // empty: not said, and not varying in the study
};

struct SyntheticStudy {
  std::string name = "synthetic";
  std::string title = "A synthetic study";
  std::vector<SyntheticMethod> methods{SyntheticMethod{}};
  int seeds = 3;
  int first_seed = 1;
  std::uint64_t iterations = 20;

  static std::string run_id(std::size_t method, int seed) {
    return fmt::format("m{}-s{}-{:012x}", method, seed, method * 1000 + std::size_t(seed));
  }
  void write(const std::filesystem::path& folder) const;
  void write_run(const std::filesystem::path& folder, std::size_t method, int seed) const;
};

inline Row synthetic_row(const SyntheticMethod& method,
                         int seed,
                         std::uint64_t t,
                         std::uint64_t iterations) {
  const double s = static_cast<double>(t) / static_cast<double>(iterations);
  const double noise = 1 + 0.1 * std::sin(static_cast<double>(t) * 1.7 + seed * 2.3);
  const double bytes = std::round(1e6 * method.density);
  Row row(t);
  row.set(Column::epoch, 5 * s);
  row.set(Column::density, method.density);
  row.set(Column::loss, 0.32 + 0.37 * std::exp(-6 * s) * noise);
  row.set(Column::loss_gap, 0.37 * std::exp(-6 * s) * noise);
  row.set(Column::step_size, 0.05);
  row.set(Column::grad_norm_sq, 0.8 * std::exp(-9 * s) * noise);
  row.set(Column::residual_norm_sq, 0.02 * (1 - std::exp(-5 * s)) * noise / method.density * 0.01);
  row.set(Column::delta, method.delta_peak - 0.05 * std::abs(s - 0.5) * noise);
  row.set(Column::contraction, (method.delta_peak - 0.05 * std::abs(s - 0.5)) * 0.99);
  row.set(Column::lost_mass_norm_sq, method.leaks ? 1e-4 * noise * (0.1 + s) : 0);
  row.set(Column::conservation_defect, method.leaks ? 0.01 * s : 2e-8 * noise);
  row.set(Column::sent_bytes, bytes);
  row.set(Column::uplink_bytes, bytes);
  row.set(Column::total_sent_bytes, bytes * static_cast<double>(t + 1));
  row.set(Column::total_uplink_bytes, bytes * static_cast<double>(t + 1));
  if (method.change) {
    method.change(row, seed);
  }
  return row;
}

/// The record of a run with Top-2 of 123 entries, the aggregator, and EF14.
inline RunFacts synthetic_facts(const std::string& aggregator) {
  RunFacts facts;
  facts.dimension = 123;
  facts.k = 2;
  facts.protocol.contributions.reset();  // as many as a study has workers
  facts.sparsifier.contraction = 2.0 / 123;
  facts.sparsifier.keeps_largest = true;
  facts.sends_everything = false;
  facts.aggregator.applies_whole_messages = aggregator == "allgather" || aggregator == "dense";
  facts.aggregator.drops_in_merges = aggregator == "gtopk-tree";
  facts.aggregator.completes_support = aggregator == "gtopk-mask";
  facts.aggregator.selects_largest = aggregator.starts_with("gtopk-");
  facts.objective.smoothness = Known{.value = 0.61, .origin = {}};
  facts.objective.strong_convexity = Known{.value = 3.1e-5, .origin = {}};
  facts.objective.minimum = Known{.value = 0.3207, .origin = {}};
  facts.objective.convex = true;
  return facts;
}

/// Returns "facts" of status.json where nothing is known of the objective.
inline Json bare_facts() {
  Json status;
  write_run_facts({}, status);
  return status["facts"];
}

inline Json synthetic_status(const SyntheticStudy& study, const SyntheticMethod& method, int seed) {
  const double loss = 0.3209 + 0.0001 * seed;
  const auto n = study.iterations;
  Json status{{"state", "finished"},
              {"message", ""},
              {"iterations", n},
              {"wall_s", 1.5 + 0.1 * seed},
              {"started_utc", "2024-05-01T10:00:00Z"},
              {"finished_utc", "2024-05-01T10:00:02Z"},
              {"processes", 4}};
  write_run_facts(synthetic_facts(method.aggregator), status);
  status["data"] =
      Json{{"name", "a9a"}, {"samples", 32561}, {"features", 123}, {"fingerprint", "0f1e2d3c"}};
  status["final"] =
      Json{{"loss", loss}, {"loss_gap", loss - 0.3207}, {"grad_norm_sq", 1e-4 * (1 + seed)}};
  status["totals"] = Json{{"sent_bytes", std::round(1e6 * method.density) * double(n)},
                          {"nnz_sent", 160 * n},
                          {"average_grad_norm_sq", 0.05 + 0.001 * seed},
                          {"delta_max", method.delta_peak}};
  const Json held{{"holds", true},
                  {"expected", true},
                  {"failures", 0},
                  {"n", n},
                  {"worst_ratio", 0.02},
                  {"worst_iteration", 7}};
  status["checks"] = Json{{"conservation", held}, {"residual_recursion", held}};
  if (method.leaks) {
    status["checks"]["conservation"] = Json{{"holds", false},
                                            {"expected", false},
                                            {"failures", n - 1},
                                            {"n", n},
                                            {"worst_ratio", 1e4},
                                            {"worst_iteration", n - 1}};
  }
  status["provenance"] = Json{
      {"version", "0.1.0"}, {"git", "abc1234"}, {"host", Json{{"cpu", "a CPU"}, {"cores", 2}}}};
  return status;
}

inline void SyntheticStudy::write_run(const std::filesystem::path& folder,
                                      std::size_t method,
                                      int seed) const {
  const SyntheticMethod& m = methods.at(method);
  const std::string id = run_id(method, seed);
  const auto run = folder / "runs" / id;
  std::filesystem::create_directories(run);
  Json config{{"run_id", id}, {"study", name}, {"title", title}, {"seed", seed}};
  config["varying"] = Json{{"aggregator.kind", m.aggregator},
                           {"feedback.putback", m.putback},
                           {"sparsifier.density", m.density}};
  config["config"] = Json{{"aggregator", Json{{"kind", m.aggregator}}},
                          {"feedback", Json{{"kind", "ef14"}, {"putback", m.putback}}},
                          {"sparsifier", Json{{"kind", "top-k"}, {"density", m.density}}}};
  if (m.workers > 0) {
    config["varying"]["workers.count"] = m.workers;
    config["config"]["workers"] = Json{{"count", m.workers}};
  }
  if (!m.execution.empty()) {
    config["varying"]["protocol.execution"] = m.execution;
    config["config"]["protocol"] = Json{{"kind", "asp"}, {"execution", m.execution}};
  }
  write_json_atomically(run / "config.json", with_print(config));
  IterationsWriter rows(run / "iterations.csv", id);
  ChecksWriter checks(run / "checks.csv", id);
  for (std::uint64_t t = 0; t < iterations; ++t) {
    rows.write(synthetic_row(m, seed, t, iterations));
    const double defect = m.leaks ? 0.01 * static_cast<double>(t) : 2e-8;
    checks.write({.iteration = t,
                  .name = "conservation",
                  .worker = {},
                  .lhs = defect,
                  .rhs = 1e-6,
                  .holds = defect <= 1e-6});
  }
  rows.close();
  checks.close();
  Json status = synthetic_status(*this, m, seed);
  if (!m.execution.empty()) {
    status["laws"]["protocol"]["is_on_wall_clock"] = m.execution == "real";
  }
  write_json_atomically(run / "status.json", with_print(status));
}

inline void SyntheticStudy::write(const std::filesystem::path& folder) const {
  Json runs = Json::array();
  for (std::size_t method = 0; method < methods.size(); ++method) {
    for (int seed = first_seed; seed < first_seed + seeds; ++seed) {
      write_run(folder, method, seed);
      runs.push_back(run_id(method, seed));
    }
  }
  Json study{{"schema", kResultSchema}, {"name", name}, {"title", title}};
  study["runs"] = runs;
  study["command"] = "mpirun -n 4 residuum run synthetic.toml";
  write_json_atomically(folder / "study.resolved.json", study);
  write_file_atomically(folder / "study.toml", "schema = 1\nname = \"" + name + "\"\n");
}

/// Writes a run's status anew after `change` has had its way with it.
template <typename Change>
void change_status(const std::filesystem::path& folder, const std::string& run_id, Change change) {
  const auto file = folder / "runs" / run_id / "status.json";
  Json status = read_json(file);
  change(status);
  write_json_atomically(file, with_print(status));
}

}  // namespace residuum::reports::testing
