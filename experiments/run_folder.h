#pragma once
// The folder of one run: runs/<run_id>/. Tables are written under other names and take their own
// when the run has ended, and status.json comes last: what a later start trusts is whole.

#include <filesystem>
#include <memory>
#include <string>

#include "assumptions/monitor.h"
#include "core/record/record.h"
#include "experiments/run_config.h"
#include "reports/csv.h"
#include "reports/files.h"

namespace residuum {

/// Whether status.json says that the run has come to its end; such a run is not made again.
bool is_done(const std::filesystem::path& result_dir, const std::string& run_id);

/// Leaves the run without tables, with a status of "failed" that says why.
void fail_run(const std::filesystem::path& result_dir,
              const std::string& run_id,
              const std::string& message);

class RunFolder final : public Recorder {
 public:
  /// Creates the folder and writes config.json and a status of "running".
  RunFolder(const std::filesystem::path& result_dir,
            const PreparedRun& run,
            const std::string& study_name,
            const std::string& title);

  void write(const Row& row, const std::vector<Check>& checks) override;

  /// Closes the tables and writes the final status.
  void finish(const Outcome& outcome,
              const RunSummary& summary,
              const PreparedRun& run,
              const nlohmann::json& provenance);

 private:
  std::filesystem::path table(const char* name) const { return folder_ / name; }

  std::filesystem::path folder_;
  std::string started_utc_;
  std::unique_ptr<reports::IterationsWriter> iterations_;
  std::unique_ptr<reports::ChecksWriter> checks_;
};

/// Now, as 2026-01-31T12:00:00Z.
std::string utc_now();

}  // namespace residuum
