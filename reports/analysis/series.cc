#include "reports/analysis/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "core/record/tables.h"
#include "reports/analysis/statistics.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

/// The ends of iterations on one network, one of each run.
struct EndsOfRuns {
  std::string network;
  std::map<std::uint64_t, std::vector<double>> ends;
};

EndsOfRuns& ends_on(const std::string& network, std::vector<EndsOfRuns>& all) {
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const EndsOfRuns& known) { return known.network == network; });
  return found != all.end() ? *found : all.emplace_back(EndsOfRuns{.network = network, .ends = {}});
}

void read_clocks(const std::filesystem::path& file,
                 const Run& run,
                 const std::set<std::uint64_t>& iterations,
                 std::vector<EndsOfRuns>& all) {
  CsvReader reader(file);
  const std::size_t iteration = reader.column("iteration");
  const std::size_t network = reader.column(kNetworksTable.key);
  const std::size_t end = reader.column("virtual_s");
  while (reader.next()) {
    if (reader.text(0) != run.id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    const std::uint64_t t = reader.integer(iteration);
    const auto time = reader.number(end);
    if (time && iterations.contains(t)) {
      ends_on(reader.text(network), all).ends[t].push_back(*time);
    }
  }
}

}  // namespace

std::vector<NetworkClock> read_network_clocks(const ResultFolder& folder,
                                              const Group& group,
                                              const std::set<std::uint64_t>& iterations) {
  std::vector<EndsOfRuns> all;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (!run.has_tables()) {
      continue;
    }
    const auto file = run.folder / (std::string(kNetworksTable.name) + ".csv");
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) {
      return {};
    }
    read_clocks(file, run, iterations, all);
  }
  std::vector<NetworkClock> clocks;
  for (const auto& one : all) {
    NetworkClock clock{.network = one.network, .ends = {}};
    for (const auto& [iteration, ends] : one.ends) {
      if (const auto middle = median(ends)) {
        clock.ends[iteration] = *middle;
      }
    }
    clocks.push_back(std::move(clock));
  }
  return clocks;
}

namespace {

bool is_late(const Run& run) { return run.facts.protocol.synchrony == Synchrony::late; }

/// Returns how many gradients each iteration takes, where the run is drawn against gradients: late
/// runs count theirs themselves.
std::optional<double> gradients_of_iteration(const ResultFolder& folder,
                                             const Run& run,
                                             GradientAxis axis) {
  const auto gradients = run.facts.protocol.contributions;  // with those of steps between exchanges
  const bool is_wanted = axis == GradientAxis::of_all_runs ||
                         std::any_of(folder.runs.begin(), folder.runs.end(), is_late);
  return is_late(run) || !is_wanted ? std::nullopt : gradients;
}

/// Returns the total of kTotals as the series has it, if the row knows it.
std::optional<double> total_of(const IterationRecord& record,
                               Column total,
                               const std::optional<double>& gradients) {
  const auto after = record.get(total);
  if (total == Column::total_contributions && !after && gradients) {
    return static_cast<double>(record.iteration()) * *gradients;
  }
  if (total == Column::virtual_s || total == Column::wall_s || total == Column::epoch) {
    return after;
  }
  const auto now =
      record.get(total == Column::total_sent_bytes ? Column::sent_bytes : Column::contributions);
  return after && now ? std::optional(*after - *now) : std::nullopt;
}

struct RunSeries {
  bool is_finished = false;
  std::vector<ThinnedSeries> columns;
  std::array<bool, kTotals.size()> has_total{};  // in every row
};

RunSeries read_run(const ResultFolder& folder,
                   const Run& run,
                   const std::vector<Column>& columns,
                   GradientAxis axis) {
  RunSeries series;
  series.is_finished = run.state == "finished";
  series.columns.resize(columns.size());
  series.has_total.fill(true);
  const auto gradients = gradients_of_iteration(folder, run, axis);
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
    std::array<double, kTotals.size()> totals{};
    for (std::size_t i = 0; i < kTotals.size(); ++i) {
      const auto total = total_of(record, kTotals[i], gradients);
      series.has_total[i] = series.has_total[i] && total;
      totals[i] = total.value_or(0);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (const auto value = record.get(columns[i])) {
        series.columns[i].add(
            {.place = 0, .iteration = record.iteration(), .value = *value, .totals = totals});
      }
    }
  });
  return series;
}

/// The values of a group's runs in one iteration.
struct PlaceValues {
  bool is_even = false;  // it is one of those that are kept evenly
  std::vector<double> by_run;
  std::vector<bool> has_run;
  std::array<std::vector<double>, kTotals.size()> totals;
  std::vector<double> values;
};

/// Gathers the values of a column, of which every run keeps one in `stride`.
std::map<std::uint64_t, PlaceValues> gather(std::vector<RunSeries>& runs,
                                            std::size_t column,
                                            std::size_t stride) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::map<std::uint64_t, PlaceValues> places;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    runs[r].columns[column].thin_to(stride);
    for (const auto& sample : runs[r].columns[column].samples()) {
      PlaceValues& place = places[sample.iteration];
      place.by_run.resize(runs.size(), kNone);
      place.by_run[r] = sample.value;
      place.has_run.resize(runs.size(), false);
      place.has_run[r] = true;
      place.is_even = place.is_even || sample.place % stride == 0;
      place.values.push_back(sample.value);
      for (std::size_t i = 0; i < kTotals.size(); ++i) {
        place.totals[i].push_back(sample.totals[i]);
      }
    }
  }
  return places;
}

/// Leaves out the places at which a finished run that was measured has no value: once the shorter
/// runs have ended, the middle of the others would jump. Runs whose places are mostly different
/// keep all.
void leave_out_incomplete(const std::vector<RunSeries>& runs,
                          std::size_t column,
                          std::map<std::uint64_t, PlaceValues>& places) {
  const auto lacks_a_run = [&](const PlaceValues& place) {
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const bool counts = runs[r].is_finished && !runs[r].columns[column].samples().empty();
      if (counts && !place.has_run[r]) {
        return true;
      }
    }
    return false;
  };
  std::size_t most = 0;
  for (const auto& run : runs) {
    most = std::max(most, run.columns[column].samples().size());
  }
  auto complete = places;
  std::erase_if(complete, [&](const auto& entry) { return lacks_a_run(entry.second); });
  if (2 * complete.size() >= most) {
    places = std::move(complete);
  }
}

std::array<bool, kTotals.size()> known_totals(const std::vector<RunSeries>& runs) {
  std::array<bool, kTotals.size()> known{};
  for (std::size_t i = 0; i < kTotals.size(); ++i) {
    known[i] = std::all_of(
        runs.begin(), runs.end(), [i](const RunSeries& run) { return run.has_total[i]; });
  }
  return known;
}

GroupSeries combine(std::vector<RunSeries>& runs, std::size_t column, IntervalKind kind) {
  GroupSeries series;
  for (const auto& run : runs) {
    series.stride = std::max(series.stride, run.columns[column].stride());
  }
  const auto known = known_totals(runs);
  series.live.seeds.resize(runs.size());
  auto places = gather(runs, column, series.stride);
  leave_out_incomplete(runs, column, places);
  for (const auto& [iteration, at] : places) {
    const Point point = seeds_point(static_cast<double>(iteration), at.values, kind);
    series.live.points.push_back(point);
    for (std::size_t r = 0; r < runs.size(); ++r) {
      series.live.seeds[r].push_back(at.by_run[r]);
    }
    if (at.is_even) {
      series.by_iteration.push_back(point);
    }
    for (std::size_t i = 0; i < kTotals.size(); ++i) {
      if (!known[i]) {
        continue;
      }
      Point moved = point;
      moved.x = median(at.totals[i]).value_or(0);
      series.live.totals[i].push_back(moved.x);
      if (at.is_even) {
        series.by_total[i].push_back(moved);
      }
    }
  }
  return series;
}

/// Returns the places of the points on a network; none where it does not know all of them.
std::optional<NetworkPlaces> places_on(const NetworkClock& clock,
                                       const std::vector<Point>& points) {
  NetworkPlaces places{.network = clock.network, .ends = {}};
  for (const auto& point : points) {
    const auto end = clock.ends.find(static_cast<std::uint64_t>(point.x));
    if (end == clock.ends.end()) {
      return std::nullopt;
    }
    places.ends.push_back(end->second);
  }
  return places;
}

/// Adds the places of the points on the networks that the runs have followed.
void add_networks(const ResultFolder& folder,
                  const Group& group,
                  std::vector<GroupSeries>& series) {
  std::set<std::uint64_t> iterations;
  for (const auto& one : series) {
    for (const auto& point : one.live.points) {
      iterations.insert(static_cast<std::uint64_t>(point.x));
    }
  }
  const auto clocks = read_network_clocks(folder, group, iterations);
  for (auto& one : series) {
    for (const auto& clock : clocks) {
      if (auto places = places_on(clock, one.live.points)) {
        one.live.networks.push_back(*std::move(places));
      }
    }
  }
}

}  // namespace

Point seeds_point(double x, const std::vector<double>& values, IntervalKind kind) {
  const Centre centre = centre_of(values, kind);
  Point point{.x = x,
              .middle = centre.middle,
              .lower = std::nullopt,
              .upper = std::nullopt,
              .n = values.size()};
  if (centre.interval) {
    point.lower = centre.interval->low;
    point.upper = centre.interval->high;
  } else if (values.size() == 1) {
    point.lower = point.upper = centre.middle;
  }
  return point;
}

const std::vector<Point>& GroupSeries::against(Column total) const {
  const auto place = std::find(kTotals.begin(), kTotals.end(), total) - kTotals.begin();
  return by_total.at(static_cast<std::size_t>(place));
}

bool ThinnedSeries::is_kept(std::size_t place) const {
  const std::size_t octave_stride = std::bit_floor(std::max<std::size_t>(1, place / kPerOctave));
  return place % std::min(stride_, octave_stride) == 0;
}

void ThinnedSeries::add(const Sample& sample) {
  const std::size_t place = count_++;
  if (!is_kept(place)) {
    return;
  }
  samples_.push_back(sample);
  samples_.back().place = place;
  even_ += place % stride_ == 0 ? 1 : 0;
  if (even_ > 2 * kKept) {
    thin_to(2 * stride_);
  }
}

void ThinnedSeries::thin_to(std::size_t stride) {
  if (stride <= stride_) {
    return;
  }
  stride_ = stride;
  samples_.erase(std::remove_if(samples_.begin(),
                                samples_.end(),
                                [this](const Sample& sample) { return !is_kept(sample.place); }),
                 samples_.end());
  even_ = static_cast<std::size_t>(
      std::count_if(samples_.begin(), samples_.end(), [this](const Sample& sample) {
        return sample.place % stride_ == 0;
      }));
}

std::vector<GroupSeries> read_series(const ResultFolder& folder,
                                     const Group& group,
                                     const std::vector<Column>& columns,
                                     IntervalKind kind,
                                     GradientAxis axis) {
  std::vector<RunSeries> runs;
  for (const std::size_t i : group.runs) {
    if (folder.runs[i].has_tables()) {
      runs.push_back(read_run(folder, folder.runs[i], columns, axis));
    }
  }
  std::vector<GroupSeries> series;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    series.push_back(combine(runs, i, kind));
  }
  add_networks(folder, group, series);
  return series;
}

}  // namespace residuum::reports
