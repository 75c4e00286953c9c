#pragma once
// LateTotals sum up what a run's iterations.csv says of late gradients and of its clock, which is
// virtual or, for real workers, the wall clock.
// Columns that count since the version before are added up only where every iteration has a row;
// what cannot be known is absent. staleness.csv counts the gradients by how late they were.

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "assumptions/estimators/intervals.h"
#include "assumptions/theorems/seed_evidence.h"
#include "core/record/columns.h"
#include "core/record/record.h"
#include "reports/results/csv.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

class IterationRecord;

/// How many gradients of a run had which staleness, in versions, until the last row.
using StalenessCounts = std::map<std::uint64_t, double>;

/// Reads the last iteration's rows of a run's staleness.csv. A file of another run, or with a
/// staleness above kLastStalenessRow, is a usage error.
StalenessCounts read_staleness(const std::filesystem::path& file, std::string_view run_id);

struct Staleness {
  double mean = 0;            // versions, over the gradients
  std::uint64_t largest = 0;  // that a gradient had
};

/// Absent where there is no gradient.
std::optional<Staleness> staleness_of(const StalenessCounts& counts);

class LateTotals {
 public:
  void add(const IterationRecord& record);

  /// Returns the numbers of a run by their names; all are absent where its rows do not count
  /// gradients.
  ///   versions, gradients, gradients_per_version;
  ///   staleness_mean, staleness_max: of all gradients;
  ///   virtual_s, last_update_wall_s: time of the last version, by the clock that the run has;
  ///   idle_share: of that time of all workers, the part in which they wait for a model;
  ///   quota_wait, staleness_wait, pull_wait: seconds per second of that time;
  ///   uplink_bytes_per_gradient, downlink_..., control_...;
  ///   weight_skew: at the end.
  std::vector<std::pair<std::string_view, std::optional<double>>> numbers(
      const std::optional<double>& workers) const;

 private:
  static constexpr std::array kSummed{Column::downlink_bytes,
                                      Column::control_bytes,
                                      Column::quota_wait_s,
                                      Column::staleness_wait_s,
                                      Column::pull_wait_s,
                                      Column::idle_s};

  void add_staleness(const IterationRecord& record);
  std::optional<double> sum_of(Column column) const;

  std::uint64_t rows_ = 0;
  bool has_every_row_ = true;
  // Values of the last row.
  std::optional<double> versions_;
  std::optional<double> gradients_;
  std::optional<double> virtual_s_;
  std::optional<double> wall_s_;
  std::optional<double> uplink_bytes_;
  std::optional<double> weight_skew_;
  // Sums over the rows, absent as soon as one row lacks its value.
  std::array<std::optional<double>, kSummed.size()> sums_{0, 0, 0, 0, 0, 0};
  std::optional<double> staleness_sum_ = 0;
  std::optional<double> staleness_max_ = 0;
};

// Measures tell what one run's iterations.csv says of the assumptions: how often they held, and the
// worst.

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
  // Sums over the epoch being read. Each row is multiplied by the iterations that it stands for.
  std::vector<double> lost_;
  std::vector<double> lost_at_random_;
  std::optional<HeldRow> held_;
  std::uint64_t epoch_ = 0;
};

// Costs are the iterations, bytes, modelled time and samples that a run has spent when a quantity
// was evaluated.

inline constexpr std::size_t kCosts = 4;
inline constexpr std::size_t kCostIterations = 0;
inline constexpr std::size_t kCostBytes = 1;
inline constexpr std::size_t kCostTime = 2;
inline constexpr std::size_t kCostSamples = 3;
/// Samples are a cost of their own only where methods take different numbers of them an iteration.
inline constexpr std::size_t kCostsOfTargets = 3;

struct CostName {
  std::string_view name;
  std::string_view unit;
};
inline constexpr std::array<CostName, kCosts> kCostNames{
    {{"iterations", ""}, {"bytes", "bytes"}, {"modelled time", "s"}, {"samples", ""}}};

using Costs = std::array<std::optional<double>, kCosts>;

/// Returns what the whole run has cost; absent where that cannot be known, because iterations were
/// not measured or there is no network model.
Costs costs_of(const Run& run, const Spent& bytes, const Spent& time);

/// Calls `take(spent, value)` for each evaluation of the quantity, in their order, the last one
/// after the last step. An evaluation at iteration t is of w_t, before what iteration t spends.
void read_evaluations(const Run& run,
                      Column quantity,
                      const std::function<void(const Costs& spent, double value)>& take);

}  // namespace residuum::reports
