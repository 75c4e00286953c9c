#include "reports/analysis/late_totals.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/record/tables.h"
#include "reports/analysis/measures.h"
#include "reports/results/csv_reader.h"

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

}  // namespace residuum::reports
