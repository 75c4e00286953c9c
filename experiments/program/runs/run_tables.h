#pragma once
// RunTables are the tables that a run writes while it goes on. An iteration of a small problem
// takes less time than its row. A thread beside the training therefore formats and writes the rows,
// a batch after the other.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/output_file.h"
#include "core/record/record.h"
#include "experiments/program/study/detail_tables.h"
#include "reports/results/csv.h"

namespace residuum {

/// The bytes of each table that belong to a checkpoint.
struct TablesBytes {
  std::uint64_t iterations = 0;
  std::uint64_t checks = 0;
  TableBytes details;
};

/// An error of the machine shows with the next batch, and at `synchronise` and `close` at
/// the latest.
class RunTables final : public Recorder {
 public:
  static constexpr const char* kIterationsPart = "iterations.csv.part";
  static constexpr const char* kChecksPart = "checks.csv.part";

  /// Begins the tables anew, or goes on after the first `kept` bytes of each.
  RunTables(const OutputPath& folder,
            const std::string& run_id,
            const std::vector<const TableInfo*>& details,
            const TablesBytes* kept = nullptr);
  /// Writes what is left as far as it goes.
  ~RunTables() override;
  RunTables(const RunTables&) = delete;
  RunTables& operator=(const RunTables&) = delete;
  RunTables(RunTables&&) = delete;
  RunTables& operator=(RunTables&&) = delete;

  void write(const Row& row, const std::vector<Check>& checks) override;
  void write_detail(const DetailRow& row) override;

  /// Waits until the disk has all rows, and says how many bytes they take.
  TablesBytes synchronise();
  /// Waits until the disk has all rows, and closes the files.
  void close();

 private:
  struct Batch {
    std::vector<Row> rows;
    std::vector<Check> checks;
    std::vector<DetailRow> details;

    std::size_t size() const { return rows.size() + details.size(); }
    void clear();
  };

  void hand_over_if_due();
  /// Waits until the thread has nothing to do. Throws what has gone wrong in it.
  void wait_for_thread(std::unique_lock<std::mutex>& lock);
  /// Writes all that has been taken.
  void settle();
  void settle_and_start_writing();
  void run();
  void stop();
  void write_batch(const Batch& batch);

  reports::IterationsWriter iterations_;
  reports::ChecksWriter checks_;
  DetailFiles details_;

  Batch taken_;    // of the training
  Batch written_;  // of the thread while it is busy
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_busy_ = false;
  bool is_stopped_ = false;
  std::chrono::steady_clock::time_point handed_over_ = std::chrono::steady_clock::now();
  std::exception_ptr failure_;  // no row is written after it
  std::thread thread_;          // from the first batch on
};

}  // namespace residuum
