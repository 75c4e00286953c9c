#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/record/tables.h"
#include "reports/analysis/comparison.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/analysis/study_numbers.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

/// The times of a run on one network say what it had spent before each measured iteration, and in
/// all.
struct RunTimes {
  std::map<std::uint64_t, double> before;
  double total = 0;
  std::array<double, kTimeParts.size()> parts{};
};

/// The times of a run by network, in the order of the file, and its values of f.
struct RunOnNetworks {
  std::vector<std::pair<std::string, RunTimes>> networks;
  std::map<std::uint64_t, double> values;  // by iteration, the last one after the last step
  std::int64_t seed = 0;
  bool has_diverged = false;

  RunTimes& on(const std::string& network) {
    const auto found = std::find_if(networks.begin(), networks.end(), [&](const auto& known) {
      return known.first == network;
    });
    return found != networks.end() ? found->second
                                   : networks.emplace_back(network, RunTimes()).second;
  }
};

void read_networks(const std::filesystem::path& file, const Run& run, RunOnNetworks& read) {
  CsvReader reader(file);
  const std::size_t iteration = reader.column("iteration");
  const std::size_t network = reader.column(kNetworksTable.key);
  const std::size_t total = reader.column("virtual_s");
  const std::size_t alone = reader.column("iteration_s");
  std::array<std::size_t, kTimeParts.size()> parts{};
  std::transform(kTimeParts.begin(), kTimeParts.end(), parts.begin(), [&](std::string_view part) {
    return reader.column(part);
  });
  const auto number = [&](std::size_t column) {
    const auto value = reader.number(column);
    if (!value || !std::isfinite(*value)) {
      reader.fail("a time is missing or not finite");
    }
    return *value;
  };
  while (reader.next()) {
    if (reader.text(0) != run.id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    RunTimes& times = read.on(reader.text(network));
    const std::uint64_t t = reader.integer(iteration);
    times.total = number(total);
    times.before[t] = times.total - number(alone);
    times.before[t + 1] = times.total;
    std::transform(parts.begin(), parts.end(), times.parts.begin(), number);
  }
}

/// Reads a run; nothing where it followed no network.
std::optional<RunOnNetworks> read_run(const Run& run, Column quantity) {
  const auto file = run.folder / (std::string(kNetworksTable.name) + ".csv");
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored)) {
    return std::nullopt;
  }
  RunOnNetworks read;
  read.seed = run.seed;
  read.has_diverged = run.state == "diverged";
  read_networks(file, run, read);
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
    if (const auto value = record.get(quantity)) {
      read.values[record.iteration()] = *value;
    }
  });
  const auto end = number_at(run.status, "iterations");
  const auto last = number_at(run.status, final_path(quantity));
  if (end && last && !read.has_diverged) {
    read.values[static_cast<std::uint64_t>(*end)] = *last;
  }
  return read;
}

double best_of(const RunOnNetworks& run) {
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [iteration, value] : run.values) {
    best = value < best ? value : best;
  }
  return best;
}

/// Returns the time at which the run is first evaluated at the target or below it: infinite where
/// it diverged before. It is not known where the iteration before that one has no row.
std::optional<double> time_to(double target, const RunOnNetworks& run, const RunTimes& times) {
  for (const auto& [iteration, value] : run.values) {
    if (value <= target) {
      const auto found = times.before.find(iteration);
      return found == times.before.end() ? std::nullopt : std::optional(found->second);
    }
  }
  return run.has_diverged ? std::optional(std::numeric_limits<double>::infinity()) : std::nullopt;
}

/// Returns the times of the run on this network, null without it.
const RunTimes* times_on(const std::string& network, const RunOnNetworks& run) {
  for (const auto& [name, times] : run.networks) {
    if (name == network) {
      return &times;
    }
  }
  return nullptr;
}

NetworkTime time_of(const std::vector<RunOnNetworks>& runs,
                    std::size_t all_runs,
                    std::size_t group,
                    const std::string& network,
                    double target) {
  std::vector<double> to_target;
  std::vector<std::int64_t> seeds;
  std::vector<double> totals;
  std::array<std::vector<double>, kTimeParts.size()> parts;
  std::size_t known = 0;  // of finished runs
  for (const auto& run : runs) {
    const RunTimes* const times = times_on(network, run);
    if (times == nullptr) {
      continue;
    }
    if (const auto seconds = time_to(target, run, *times)) {
      to_target.push_back(*seconds);
      seeds.push_back(run.seed);
      known += run.has_diverged ? 0 : 1;
    }
    if (run.has_diverged) {
      continue;
    }
    totals.push_back(times->total);
    for (std::size_t part = 0; part < parts.size(); ++part) {
      parts[part].push_back(times->parts[part]);
    }
  }
  NetworkTime time{.group = group,
                   .network = network,
                   .to_target = spread_of(to_target),
                   .total = spread_of(totals),
                   .parts = {},
                   .seeds = std::move(seeds),
                   .missing = all_runs - known};
  std::transform(parts.begin(), parts.end(), time.parts.begin(), spread_of);
  return time;
}

void add_names(const RunOnNetworks& run, std::vector<std::string>& names) {
  for (const auto& [name, times] : run.networks) {
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      names.push_back(name);
    }
  }
}

/// Marks the method that is at the target first on the network, if that is decided.
void mark_fastest(NetworkComparison& comparison, const std::string& network) {
  Standing standing{.cost = {}, .unit = {}, .budget = std::nullopt, .methods = {}, .absent = {}};
  for (std::size_t i = 0; i < comparison.times.size(); ++i) {
    const NetworkTime& time = comparison.times[i];
    if (time.network == network) {
      standing.methods.push_back({.group = i,
                                  .value = time.to_target,
                                  .spent = std::nullopt,
                                  .seeds = time.seeds,
                                  .missing = time.missing});
    }
  }
  sort_best_first(standing.methods);
  if (best_is_decided(standing, IntervalKind::student)) {
    comparison.times[standing.methods.front().group].is_fastest = true;
  }
}

/// Reads those of the runs that networks were simulated for, and notes these and the best value of
/// those that ended.
void add_runs(const ResultFolder& folder,
              std::span<const std::size_t> indices,
              Column quantity,
              NetworkComparison& comparison,
              std::vector<RunOnNetworks>& runs) {
  for (const std::size_t i : indices) {
    auto run = read_run(folder.runs[i], quantity);
    if (!run) {
      continue;
    }
    if (!run->has_diverged) {
      comparison.target = std::max(comparison.target, best_of(*run));
    }
    add_names(*run, comparison.networks);
    runs.push_back(std::move(*run));
  }
}

std::optional<NetworkComparison> compare(const ResultFolder& folder,
                                         const std::vector<Group>& groups,
                                         const Field& field) {
  const Column quantity = quantity_of(folder, field);
  NetworkComparison comparison{.objective = field.objective,
                               .quantity = kColumns[static_cast<std::size_t>(quantity)].name,
                               .target = -std::numeric_limits<double>::infinity(),
                               .networks = {},
                               .times = {}};
  std::vector<std::vector<RunOnNetworks>> runs(field.groups.size());
  for (std::size_t g = 0; g < field.groups.size(); ++g) {
    add_runs(folder, field.runs[g], quantity, comparison, runs[g]);
    add_runs(folder, field.diverged[g], quantity, comparison, runs[g]);
  }
  if (!std::isfinite(comparison.target)) {
    return std::nullopt;
  }
  for (std::size_t g = 0; g < field.groups.size(); ++g) {
    for (const auto& network : comparison.networks) {
      if (!runs[g].empty()) {
        const std::size_t group = field.groups[g];
        comparison.times.push_back(
            time_of(runs[g], groups[group].runs.size(), group, network, comparison.target));
      }
    }
  }
  for (const auto& network : comparison.networks) {
    mark_fastest(comparison, network);
  }
  return comparison;
}

}  // namespace

std::vector<NetworkComparison> compare_on_networks(const ResultFolder& folder,
                                                   const std::vector<Group>& groups) {
  std::vector<NetworkComparison> comparisons;
  for (const auto& field : fields_of(folder, groups)) {
    if (auto comparison = compare(folder, groups, field)) {
      comparisons.push_back(std::move(*comparison));
    }
  }
  return comparisons;
}

}  // namespace residuum::reports
