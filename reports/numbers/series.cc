#include "reports/numbers/series.h"

#include <algorithm>
#include <map>

#include "reports/numbers/statistics.h"

namespace residuum::reports {
namespace {

struct RunSeries {
  std::vector<ThinnedSeries> columns;
  bool has_bytes = true;  // in every row
};

RunSeries read_run(const ResultFolder& folder, const Run& run, const std::vector<Column>& columns) {
  RunSeries series;
  series.columns.resize(columns.size());
  read_iterations(
      folder.run_path(run) / "iterations.csv", run.id, [&](const IterationRecord& record) {
        const auto total = record.get(Column::total_uplink_bytes);
        const auto now = record.get(Column::uplink_bytes);
        series.has_bytes = series.has_bytes && total && now;
        const double bytes = total.value_or(0) - now.value_or(0);
        for (std::size_t i = 0; i < columns.size(); ++i) {
          if (const auto value = record.get(columns[i])) {
            series.columns[i].add(
                {.iteration = record.iteration(), .bytes = bytes, .value = *value});
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

GroupSeries combine(std::vector<RunSeries>& runs, std::size_t column) {
  GroupSeries series;
  bool has_bytes = true;
  for (const auto& run : runs) {
    series.stride = std::max(series.stride, run.columns[column].stride());
    has_bytes = has_bytes && run.has_bytes;
  }
  struct Values {
    std::vector<double> bytes;
    std::vector<double> values;
  };
  std::map<std::uint64_t, Values> places;
  for (auto& run : runs) {
    run.columns[column].thin_to(series.stride);
    for (const auto& sample : run.columns[column].samples()) {
      places[sample.iteration].bytes.push_back(sample.bytes);
      places[sample.iteration].values.push_back(sample.value);
    }
  }
  for (const auto& [iteration, at] : places) {
    series.by_iteration.push_back(make_point(static_cast<double>(iteration), at.values));
    const double bytes = median(at.bytes).value_or(0);
    if (has_bytes && bytes > 0) {
      series.by_bytes.push_back(make_point(bytes, at.values));
    }
  }
  return series;
}

}  // namespace

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
