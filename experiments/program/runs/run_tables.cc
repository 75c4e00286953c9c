#include "experiments/program/runs/run_tables.h"

#include <system_error>
#include <utility>

namespace residuum {
namespace {

/// So many rows are worth waking a thread for.
constexpr std::size_t kBatchRows = 256;
/// A row that comes so long after the last batch is handed over at once: somebody may watch.
constexpr std::chrono::seconds kLongest{1};

template <class Writer>
Writer writer_of(const OutputPath& file, const std::string& run_id, const std::uint64_t* kept) {
  return kept == nullptr ? Writer(file, run_id) : Writer(file, run_id, *kept);
}

}  // namespace

RunTables::RunTables(const OutputPath& folder,
                     const std::string& run_id,
                     const std::vector<const TableInfo*>& details,
                     const TablesBytes* kept)
    : iterations_(writer_of<reports::IterationsWriter>(
          folder / kIterationsPart, run_id, kept != nullptr ? &kept->iterations : nullptr)),
      checks_(writer_of<reports::ChecksWriter>(
          folder / kChecksPart, run_id, kept != nullptr ? &kept->checks : nullptr)),
      details_(folder, run_id, details, kept != nullptr ? &kept->details : nullptr) {}

RunTables::~RunTables() {
  stop();
  try {
    if (!failure_) {
      write_batch(taken_);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): `close` was to say it
  }
}

void RunTables::write(const Row& row, const std::vector<Check>& checks) {
  taken_.rows.push_back(row);
  taken_.checks.insert(taken_.checks.end(), checks.begin(), checks.end());
  hand_over_if_due();
}

void RunTables::write_detail(const DetailRow& row) {
  taken_.details.push_back(row);
  hand_over_if_due();
}

TablesBytes RunTables::synchronise() {
  settle_and_start_writing();
  return {.iterations = iterations_.synchronise(),
          .checks = checks_.synchronise(),
          .details = details_.synchronise()};
}

void RunTables::close() {
  settle_and_start_writing();
  iterations_.close();
  checks_.close();
  details_.close();
}

/// The disk then writes all tables at once, and the wait for the first is most of the wait for all.
void RunTables::settle_and_start_writing() {
  settle();
  iterations_.start_writing();
  checks_.start_writing();
  details_.start_writing();
}

void RunTables::Batch::clear() {
  rows.clear();
  checks.clear();
  details.clear();
}

void RunTables::hand_over_if_due() {
  const auto now = std::chrono::steady_clock::now();
  if (taken_.size() < kBatchRows && now - handed_over_ < kLongest) {
    return;
  }
  handed_over_ = now;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { run(); });
    } catch (const std::system_error&) {  // the system has no more threads
      settle();
      return;
    }
  }
  {
    std::unique_lock lock(mutex_);
    wait_for_thread(lock);
    std::swap(taken_, written_);
    is_busy_ = true;
  }
  changed_.notify_all();
}

void RunTables::wait_for_thread(std::unique_lock<std::mutex>& lock) {
  changed_.wait(lock, [this] { return !is_busy_; });
  if (failure_) {
    std::rethrow_exception(failure_);
  }
}

void RunTables::settle() {
  {
    std::unique_lock lock(mutex_);
    wait_for_thread(lock);
  }
  try {
    write_batch(taken_);
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
  taken_.clear();
}

void RunTables::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return is_busy_ || is_stopped_; });
    if (!is_busy_) {
      return;
    }
    lock.unlock();
    std::exception_ptr failure;
    try {
      write_batch(written_);
    } catch (...) {
      failure = std::current_exception();
    }
    written_.clear();
    lock.lock();
    failure_ = failure;
    is_busy_ = false;
    changed_.notify_all();
  }
}

void RunTables::stop() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void RunTables::write_batch(const Batch& batch) {
  for (const Row& row : batch.rows) {
    iterations_.write(row);
  }
  for (const Check& check : batch.checks) {
    checks_.write(check);
  }
  for (const DetailRow& row : batch.details) {
    details_.write(row);
  }
}

}  // namespace residuum
