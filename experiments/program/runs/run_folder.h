#pragma once
// RunFolder is the folder of one run, runs/<run_id>/. Tables are written under other names and take
// their own when the run has ended, and status.json comes last, so that what a later start trusts
// is whole.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "assumptions/monitor.h"
#include "core/output_file.h"
#include "core/record/record.h"
#include "experiments/program/runs/checkpoint.h"
#include "experiments/program/runs/run_tables.h"
#include "experiments/program/study/detail_tables.h"
#include "experiments/program/study/run_config.h"
#include "reports/results/files.h"

namespace residuum {

/// Returns whether status.json says that the run has ended, and so is not made again.
bool is_done(const std::filesystem::path& result_dir, const std::string& run_id);

/// Returns whether status.json says that the run was stopped and can go on.
bool is_interrupted(const std::filesystem::path& result_dir, const std::string& run_id);

/// Mends a run that is done. It writes config.json anew if the file was changed (the run's identity
/// gives its content), and removes the files that an earlier failure has left.
void mend_finished(const std::filesystem::path& result_dir,
                   const PreparedRun& run,
                   const Study& study);

/// Throws a usage error if the run is to go on from a checkpoint of another build of the program:
/// the rest of the run could have other bits than the whole of it by either.
void refuse_other_program(const std::filesystem::path& result_dir, const PreparedRun& run);

/// Throws a usage error if the run has come to its end on data other than those it would be made
/// with now.
void refuse_other_data(const std::filesystem::path& result_dir, const PreparedRun& run);

/// Leaves the run without tables and with a status of "failed" that says why. The status is in its
/// folder, or beside it where the folder cannot be written.
void fail_run(const std::filesystem::path& result_dir,
              const PreparedRun& run,
              const Study& study,
              const std::string& message);

class RunFolder final : public Recorder {
 public:
  /// Creates the folder and writes config.json and a status of "running". Tables begin anew unless
  /// there is a checkpoint that can be used; then they are left alone until `go_on` or `refuse`.
  RunFolder(const std::filesystem::path& result_dir, const PreparedRun& run, const Study& study);

  void write(const Row& row, const std::vector<Check>& checks) override;
  void write_detail(const DetailRow& row) override { tables_->write_detail(row); }

  const OutputPath& path() const { return folder_; }

  /// Iterations that the checkpoint has done, 0 without one.
  std::uint64_t resumed_iterations() const { return resumed_ ? resumed_->head.iteration : 0; }
  /// The threshold that pilot runs found before, with their number.
  const std::optional<FoundThreshold>& found() const { return found_; }
  void remember(const std::optional<FoundThreshold>& found) { found_ = found; }
  void load(const std::function<void(StateStream&)>& fill) const;
  /// Opens the tables where the checkpoint has left them. Rows after that are made again.
  void go_on();
  /// Sets the checkpoint aside because of its state, and takes the one before it.
  void refuse(const std::string& reason);
  /// Saves the tables first, then the state that goes with them.
  void save(std::uint64_t iterations, const std::function<void(StateStream&)>& fill);

  /// Removes all checkpoints of this training, so that nothing goes on from them.
  void remove_checkpoints() const;

  /// Closes the tables and writes the final status.
  void finish(const Outcome& outcome,
              const RunSummary& summary,
              const PreparedRun& run,
              const nlohmann::json& provenance);

 private:
  OutputPath table(const char* name) const { return folder_ / name; }
  /// The facts of the run that are known before its checkpoints are read.
  struct Plan {
    std::uint64_t iterations = 0;  // T
    bool has_pilot = false;
    std::vector<const TableInfo*> details;
  };

  void adopt(std::optional<Checkpoint> checkpoint);
  void begin_tables();
  /// These throw a usage error unless the checkpoint can be one of this run, and unless the tables
  /// begin with what it has counted.
  void check_head(const CheckpointHead& head);
  void check_tables(const CheckpointHead& head);
  /// Returns the bytes of each table that belong to a checkpoint, by the names of the files.
  TableBytes parts_of(const CheckpointHead& head) const;
  /// Returns the checksums of the tables in a checkpoint, by their files' names.
  std::map<std::string, std::uint32_t> sums_of(const CheckpointHead& head);

  OutputPath folder_;
  std::string run_id_;
  std::string data_fingerprint_;
  Plan plan_;
  std::optional<Checkpoint> resumed_;
  std::optional<FoundThreshold> found_;
  std::string begun_utc_;    // of this start
  std::string started_utc_;  // of the run
  std::unique_ptr<RunTables> tables_;
  GrowingSums sums_;
};

}  // namespace residuum
