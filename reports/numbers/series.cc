#include "reports/numbers/series.h"

#include <algorithm>
#include <map>

#include "reports/numbers/statistics.h"

namespace residuum::reports {
namespace {

/// Returns the total of kTotals as the series has it, if the row knows it.
std::optional<double> total_of(const IterationRecord& record, Column total) {
  const auto after = record.get(total);
  if (total == Column::virtual_s) {
    return after;
  }
  const auto now = record.get(total == Column::total_uplink_bytes ? Column::uplink_bytes
                                                                  : Column::contributions);
  return after && now ? std::optional(*after - *now) : std::nullopt;
}

struct RunSeries {
  std::vector<ThinnedSeries> columns;
  std::array<bool, kTotals.size()> has_total{};  // in every row
};

RunSeries read_run(const ResultFolder& folder, const Run& run, const std::vector<Column>& columns) {
  RunSeries series;
  series.columns.resize(columns.size());
  series.has_total.fill(true);
  read_iterations(
      folder.run_path(run) / "iterations.csv", run.id, [&](const IterationRecord& record) {
        std::array<double, kTotals.size()> totals{};
        for (std::size_t i = 0; i < kTotals.size(); ++i) {
          const auto total = total_of(record, kTotals[i]);
          series.has_total[i] = series.has_total[i] && total;
          totals[i] = total.value_or(0);
        }
        for (std::size_t i = 0; i < columns.size(); ++i) {
          if (const auto value = record.get(columns[i])) {
            series.columns[i].add(
                {.iteration = record.iteration(), .value = *value, .totals = totals});
          }
        }
      });
  return series;
}

Point make_point(double x, const std::vector<double>& values) {
  return {.x = x,
          .middle = median(values),
          .lower = quantile(values, 0.25),
          .upper = quantile(values, 0.75),
          .n = values.size()};
}

/// The values of a group's runs in one iteration.
struct PlaceValues {
  std::array<std::vector<double>, kTotals.size()> totals;
  std::vector<double> values;
};

/// Gathers the values of a column, of which every run keeps one in `stride`.
std::map<std::uint64_t, PlaceValues> gather(std::vector<RunSeries>& runs,
                                            std::size_t column,
                                            std::size_t stride) {
  std::map<std::uint64_t, PlaceValues> places;
  for (auto& run : runs) {
    run.columns[column].thin_to(stride);
    for (const auto& sample : run.columns[column].samples()) {
      PlaceValues& place = places[sample.iteration];
      place.values.push_back(sample.value);
      for (std::size_t i = 0; i < kTotals.size(); ++i) {
        place.totals[i].push_back(sample.totals[i]);
      }
    }
  }
  return places;
}

GroupSeries combine(std::vector<RunSeries>& runs, std::size_t column) {
  GroupSeries series;
  for (const auto& run : runs) {
    series.stride = std::max(series.stride, run.columns[column].stride());
  }
  const auto places = gather(runs, column, series.stride);
  for (const auto& [iteration, at] : places) {
    series.by_iteration.push_back(make_point(static_cast<double>(iteration), at.values));
  }
  for (std::size_t i = 0; i < kTotals.size(); ++i) {
    const bool is_known = std::all_of(
        runs.begin(), runs.end(), [i](const RunSeries& run) { return run.has_total[i]; });
    for (const auto& [iteration, at] : places) {
      if (is_known) {
        series.by_total[i].push_back(make_point(median(at.totals[i]).value_or(0), at.values));
      }
    }
  }
  return series;
}

}  // namespace

const std::vector<Point>& GroupSeries::against(Column total) const {
  const auto place = std::find(kTotals.begin(), kTotals.end(), total) - kTotals.begin();
  return by_total.at(static_cast<std::size_t>(place));
}

void ThinnedSeries::add(const Sample& sample) {
  if (count_++ % stride_ != 0) {
    return;
  }
  samples_.push_back(sample);
  if (samples_.size() > 2 * kKept) {
    thin_to(2 * stride_);
  }
}

void ThinnedSeries::thin_to(std::size_t stride) {
  while (stride_ < stride) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples_.size(); i += 2) {
      samples_[kept++] = samples_[i];
    }
    samples_.resize(kept);
    stride_ *= 2;
  }
}

std::vector<GroupSeries> read_series(const ResultFolder& folder,
                                     const Group& group,
                                     const std::vector<Column>& columns) {
  std::vector<RunSeries> runs;
  for (const std::size_t i : group.runs) {
    if (folder.runs[i].has_tables()) {
      runs.push_back(read_run(folder, folder.runs[i], columns));
    }
  }
  std::vector<GroupSeries> series;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    series.push_back(combine(runs, i));
  }
  return series;
}

}  // namespace residuum::reports
