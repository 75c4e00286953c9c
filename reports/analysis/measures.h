#pragma once
// Measures tell what one run's iterations.csv says of the assumptions: how often they held, and the
// worst.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "assumptions/theorems/seed_evidence.h"
#include "core/record/columns.h"
#include "core/record/record.h"
#include "reports/analysis/late_totals.h"
#include "reports/results/csv_reader.h"

namespace residuum::reports {

/// The largest value of a column and the iteration it was seen at. NaN is worse than any number.
struct Worst {
  std::optional<double> value;
  std::uint64_t iteration = 0;

  void add(double candidate, std::uint64_t at);
};

/// How often a measured quantity stayed within a bound.
struct BoundMeasure {
  std::size_t n = 0;
  std::size_t held = 0;
  Worst worst;
  std::optional<double> median;
};

/// Delta is pooled over the iterations of one epoch, a row counting for those until the next, with
/// its delta-method interval over batch means.
struct EpochDelta {
  std::uint64_t epoch = 0;
  std::size_t n = 0;  // rows
  RatioOfSums delta;
};

/// Spent adds up what a run has spent of something, record by record. It is absent where it cannot
/// be known, because iterations were left out and the table has no running total.
struct Spent {
  Column each;                       // what an iteration spends
  Column total;                      // up to and with the iteration
  std::optional<double> before = 0;  // spent before the iteration of the last record
  std::optional<double> after = 0;   // spent after it
  std::uint64_t iterations = 0;      // up to the last record, which is one of them

  void add(const IterationRecord& record);
};

inline constexpr Spent kSentBytes{.each = Column::sent_bytes, .total = Column::total_sent_bytes};
inline constexpr Spent kVirtualTime{.each = Column::model_time_s, .total = Column::virtual_s};

struct RunMeasures {
  std::size_t rows = 0;
  double measure_s = 0;            // of all rows; 0 where times are left out
  BoundMeasure delta;              // delta_t <= 1, the gTop-k assumption
  BoundMeasure contraction;        // q_t < 1
  std::vector<EpochDelta> epochs;  // the last ones, if there are very many
  Worst lost_mass;
  Worst conservation_defect;
  std::optional<double> lost_mass_total;  // sum over the iterations measured
  Spent bytes = kSentBytes;
  Spent time = kVirtualTime;
  LateTotals late;
  std::optional<SeedEvidence> evidence;  // for the theorems; absent without tables
};

/// One record of iterations.csv by column, empty fields as nullopt.
class IterationRecord {
 public:
  explicit IterationRecord(const CsvReader& reader) : reader_(&reader) {}

  std::uint64_t iteration() const { return reader_->integer(1); }
  std::optional<double> get(Column column) const;
  /// Returns all columns of the record.
  Row row() const;

 private:
  const CsvReader* reader_;
};

/// Calls `take(record)` for every record of iterations.csv of run `run_id` and `pass(text)` with
/// the record as it stands. A file of another run, with other columns than this program writes, or
/// whose iterations do not rise, is a usage error.
void read_iterations(const std::filesystem::path& path,
                     std::string_view run_id,
                     const std::function<void(const IterationRecord&)>& take,
                     const std::function<void(std::string_view)>& pass = nullptr);

/// Takes the records of one run and says what they amount to.
class MeasureTaker {
 public:
  /// `iterations` is the length of the runs of this method.
  explicit MeasureTaker(std::uint64_t iterations) { measures_.evidence.emplace(iterations); }

  void add(const IterationRecord& record);
  RunMeasures finish();

 private:
  void add_to_epoch(const IterationRecord& record);
  void count_held(std::uint64_t until);
  void close_epoch();

  /// A row of the epoch that is being read, which stands for the iterations until the next.
  struct HeldRow {
    std::uint64_t iteration = 0;
    double lost = 0;            // |mean a - g/P|^2
    double lost_at_random = 0;  // (1 - rho) |mean a|^2
  };

  RunMeasures measures_;
  std::vector<double> deltas_;
  std::vector<double> contractions_;
  // These are of the epoch that is being read, times the iterations that each row stands for.
  std::vector<double> lost_;
  std::vector<double> lost_at_random_;
  std::optional<HeldRow> held_;
  std::uint64_t epoch_ = 0;
};

}  // namespace residuum::reports
