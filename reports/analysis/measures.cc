#include "reports/analysis/measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "core/record/tables.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/statistics.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

std::optional<double> ratio(const std::optional<double>& part, const std::optional<double>& whole) {
  return part && whole && *whole > 0 ? std::optional(*part / *whole) : std::nullopt;
}

}  // namespace

StalenessCounts read_staleness(const std::filesystem::path& file, std::string_view run_id) {
  CsvReader reader(file);
  const std::size_t iteration = reader.column("iteration");
  const std::size_t staleness = reader.column(kStalenessTable.key);
  const std::size_t gradients = reader.column(kStalenessColumns.front().name);
  StalenessCounts counts;
  std::optional<std::uint64_t> last;
  while (reader.next()) {
    if (reader.text(0) != run_id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    if (last != reader.integer(iteration)) {
      counts.clear();
      last = reader.integer(iteration);
    }
    const std::uint64_t bin = reader.integer(staleness);
    if (bin > kLastStalenessRow) {
      reader.fail(
          fmt::format("no staleness is above {}, but this one is {}", kLastStalenessRow, bin));
    }
    counts[bin] = static_cast<double>(reader.integer(gradients));
  }
  return counts;
}

std::optional<Staleness> staleness_of(const StalenessCounts& counts) {
  Staleness late;
  double all = 0;
  for (const auto& [staleness, gradients] : counts) {
    if (gradients > 0) {
      late.mean += static_cast<double>(staleness) * gradients;
      late.largest = staleness;
      all += gradients;
    }
  }
  late.mean /= all;
  return all > 0 ? std::optional(late) : std::nullopt;
}

void LateTotals::add(const IterationRecord& record) {
  has_every_row_ = has_every_row_ && record.iteration() == rows_;
  ++rows_;
  versions_ = record.get(Column::version);
  gradients_ = record.get(Column::total_contributions);
  virtual_s_ = record.get(Column::virtual_s);
  wall_s_ = record.get(Column::wall_s);
  uplink_bytes_ = record.get(Column::total_uplink_bytes);
  weight_skew_ = record.get(Column::weight_skew);
  for (std::size_t i = 0; i < kSummed.size(); ++i) {
    const auto value = record.get(kSummed[i]);
    sums_[i] = sums_[i] && value ? std::optional(*sums_[i] + *value) : std::nullopt;
  }
  add_staleness(record);
}

void LateTotals::add_staleness(const IterationRecord& record) {
  const auto gradients = record.get(Column::contributions);
  const auto mean = record.get(Column::staleness_mean);
  const auto most = record.get(Column::staleness_max);
  staleness_sum_ = staleness_sum_ && gradients && mean
                       ? std::optional(*staleness_sum_ + *gradients * *mean)
                       : std::nullopt;
  staleness_max_ =
      staleness_max_ && most ? std::optional(std::max(*staleness_max_, *most)) : std::nullopt;
}

std::optional<double> LateTotals::sum_of(Column column) const {
  const auto place = std::find(kSummed.begin(), kSummed.end(), column) - kSummed.begin();
  return has_every_row_ ? sums_.at(static_cast<std::size_t>(place)) : std::nullopt;
}

std::vector<std::pair<std::string_view, std::optional<double>>> LateTotals::numbers(
    const std::optional<double>& workers) const {
  if (!versions_ || !gradients_) {
    return {};
  }
  const auto& seconds = wall_s_ ? wall_s_ : virtual_s_;
  const auto idle = ratio(sum_of(Column::idle_s), seconds);
  return {{"versions", versions_},
          {"gradients", gradients_},
          {"gradients_per_version", ratio(gradients_, versions_)},
          {"staleness_mean", has_every_row_ ? ratio(staleness_sum_, gradients_) : std::nullopt},
          {"staleness_max", has_every_row_ ? staleness_max_ : std::nullopt},
          {"virtual_s", virtual_s_},
          {"last_update_wall_s", wall_s_},
          {"idle_share", ratio(idle, workers)},
          {"quota_wait", ratio(sum_of(Column::quota_wait_s), seconds)},
          {"staleness_wait", ratio(sum_of(Column::staleness_wait_s), seconds)},
          {"pull_wait", ratio(sum_of(Column::pull_wait_s), seconds)},
          {"uplink_bytes_per_gradient", ratio(uplink_bytes_, gradients_)},
          {"downlink_bytes_per_gradient", ratio(sum_of(Column::downlink_bytes), gradients_)},
          {"control_bytes_per_gradient", ratio(sum_of(Column::control_bytes), gradients_)},
          {"weight_skew", weight_skew_}};
}

namespace {

constexpr std::size_t kKeys = 2;  // run_id, iteration
// delta is a ratio of two float64 sums: if it is 1 by theory, rounding may leave a little more.
constexpr double kRounding = 1e-12;

void add_bound(BoundMeasure& measure, double value, bool held, std::uint64_t iteration) {
  ++measure.n;
  measure.held += held ? 1 : 0;
  measure.worst.add(value, iteration);
}

}  // namespace

void Worst::add(double candidate, std::uint64_t at) {
  const bool first = !value;
  const bool worse = !first && !std::isnan(*value) && (std::isnan(candidate) || candidate > *value);
  if (first || worse) {
    value = candidate;
    iteration = at;
  }
}

void Spent::add(const IterationRecord& record) {
  const auto so_far = record.get(total);
  const auto now = record.get(each);
  if (so_far && now) {
    before = *so_far - *now;
    after = *so_far;
  } else {
    before = record.iteration() == iterations ? after : std::nullopt;
    after = before;
    after = after && now ? std::optional(*after + *now) : std::nullopt;
  }
  iterations = record.iteration() + 1;
}

std::optional<double> IterationRecord::get(Column column) const {
  return reader_->number(kKeys + static_cast<std::size_t>(column));
}

Row IterationRecord::row() const {
  Row row(iteration());
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    const auto column = static_cast<Column>(i);
    if (const auto value = get(column)) {
      row.set(column, *value);
    }
  }
  return row;
}

void read_iterations(const std::filesystem::path& path,
                     std::string_view run_id,
                     const std::function<void(const IterationRecord&)>& take,
                     const std::function<void(std::string_view)>& pass) {
  CsvReader reader(path);
  require_own_header(reader, iterations_header());
  std::optional<std::uint64_t> previous;
  std::string line;
  while (reader.next()) {
    if (reader.text(0) != run_id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    const std::uint64_t iteration = reader.integer(1);
    if (previous && iteration <= *previous) {
      reader.fail(fmt::format("iteration {} after {}", iteration, *previous));
    }
    previous = iteration;
    take(IterationRecord(reader));
    if (pass) {
      line = reader.record();
      line += '\n';
      pass(line);
    }
  }
}

void MeasureTaker::add(const IterationRecord& record) {
  const std::uint64_t t = record.iteration();
  measures_.bytes.add(record);
  measures_.late.add(record);
  measures_.time.add(record);
  ++measures_.rows;
  measures_.measure_s += record.get(Column::measure_s).value_or(0);
  measures_.evidence->add(record.row());
  add_to_epoch(record);
  if (const auto delta = record.get(Column::delta)) {
    add_bound(measures_.delta, *delta, *delta <= 1 + kRounding, t);
    deltas_.push_back(*delta);
  }
  if (const auto q = record.get(Column::contraction)) {
    add_bound(measures_.contraction, *q, *q < 1, t);
    contractions_.push_back(*q);
  }
  if (const auto lost = record.get(Column::lost_mass_norm_sq)) {
    measures_.lost_mass.add(*lost, t);
    measures_.lost_mass_total = measures_.lost_mass_total.value_or(0) + *lost;
  }
  if (const auto defect = record.get(Column::conservation_defect)) {
    measures_.conservation_defect.add(*defect, t);
  }
}

void MeasureTaker::add_to_epoch(const IterationRecord& record) {
  const auto delta = record.get(Column::delta);
  const auto accumulated = record.get(Column::accumulator_norm_sq);
  const auto density = record.get(Column::density);
  if (!delta || !accumulated || !density) {
    return;
  }
  constexpr double kMostPasses = 9007199254740992.0;  // 2^53
  const double passes = std::min(kMostPasses, std::max(0.0, record.get(Column::epoch).value_or(0)));
  const auto epoch = static_cast<std::uint64_t>(passes);
  const std::uint64_t t = record.iteration();
  if (epoch != epoch_) {
    // Epochs are equally long: each iteration is passes/t of one.
    const double end = static_cast<double>(t) * static_cast<double>(epoch_ + 1) / passes;
    count_held(end < static_cast<double>(t) ? static_cast<std::uint64_t>(std::ceil(end)) : t);
    close_epoch();
    epoch_ = epoch;
  } else {
    count_held(t);
  }
  const double random = (1 - *density) * *accumulated;
  const double lost = std::isinf(*delta) ? *lost_by_selection(record.row()) : *delta * random;
  held_ = HeldRow{.iteration = t, .lost = lost, .lost_at_random = random};
}

void MeasureTaker::count_held(std::uint64_t until) {
  if (held_) {
    const auto weight =
        static_cast<double>(std::max(until, held_->iteration + 1) - held_->iteration);
    lost_.push_back(weight * held_->lost);
    lost_at_random_.push_back(weight * held_->lost_at_random);
  }
  held_.reset();
}

void MeasureTaker::close_epoch() {
  constexpr std::size_t kMostEpochs = 1000;
  if (const auto ratio = ratio_of_batch_sums(lost_, lost_at_random_)) {
    measures_.epochs.push_back({.epoch = epoch_, .n = lost_.size(), .delta = *ratio});
  }
  if (measures_.epochs.size() > kMostEpochs) {
    measures_.epochs.erase(measures_.epochs.begin());
  }
  lost_.clear();
  lost_at_random_.clear();
}

RunMeasures MeasureTaker::finish() {
  count_held(0);  // nothing is known of the iterations after the last row
  close_epoch();
  if (measures_.rows == 0) {
    measures_.bytes.after.reset();
    measures_.time.after.reset();
  }
  measures_.delta.median = median(deltas_);
  measures_.contraction.median = median(contractions_);
  return measures_;
}

Costs costs_of(const Run& run, const Spent& bytes, const Spent& time) {
  const auto iterations = number_at(run.status, "iterations");
  Costs costs{iterations, std::nullopt, std::nullopt, std::nullopt};
  // The last iteration of a run that a budget of gradients or time has ended may have no row.
  const auto in_all = [&](const Spent& spent, const char* total) {
    const bool has_last_row = iterations && static_cast<double>(spent.iterations) == *iterations;
    return has_last_row              ? spent.after
           : run.state == "finished" ? number_at(run.status, total)
                                     : std::nullopt;
  };
  costs[kCostBytes] = in_all(bytes, "totals.sent_bytes");
  costs[kCostTime] = in_all(time, "totals.virtual_s");
  const auto samples = samples_of_iteration(run);
  if (iterations && samples) {
    costs[kCostSamples] = *samples * *iterations;
  }
  return costs;
}

void read_evaluations(const Run& run,
                      Column quantity,
                      const std::function<void(const Costs& spent, double value)>& take) {
  Spent bytes = kSentBytes;
  Spent time = kVirtualTime;
  const auto samples = samples_of_iteration(run);
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
    bytes.add(record);
    time.add(record);
    if (const auto value = record.get(quantity)) {
      const auto t = static_cast<double>(record.iteration());
      const auto seen = samples ? std::optional(*samples * t) : std::nullopt;
      take({t, bytes.before, time.before, seen}, *value);
    }
  });
  if (const auto value = number_at(run.status, final_path(quantity))) {
    take(costs_of(run, bytes, time), *value);
  }
}

}  // namespace residuum::reports
