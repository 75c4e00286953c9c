#include "reports/analysis/predicted_times.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "reports/analysis/measures.h"

namespace residuum::reports {
namespace {

using Seconds = std::map<std::uint64_t, double>;  // up to and with the iteration

constexpr std::string_view kExecution = "protocol.execution";

/// Returns what decides a run, but its execution and its measurements.
std::string decisive_settings(const Run& run) {
  Json settings = value_at(run.config, "config");
  if (!settings.is_object()) {
    return {};
  }
  settings.erase("probes");
  if (settings.contains("protocol") && settings["protocol"].is_object()) {
    settings["protocol"].erase("execution");
  }
  return nlohmann::json(settings).dump();  // with keys in one order
}

/// Returns the times of a run in this column; empty where it has none.
Seconds read_seconds(const Run& run, Column column) {
  Seconds seconds;
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
    if (const auto value = record.get(column)) {
      seconds[record.iteration()] = *value;
    }
  });
  return seconds;
}

/// A simulated and a real run of one seed.
struct SeedPair {
  std::int64_t seed = 0;
  Seconds predicted;
  Seconds measured;
};

/// A run that finished, and the group that it is of.
struct Finished {
  std::size_t group = 0;
  const Run* run = nullptr;
};
using Key = std::pair<std::string, std::int64_t>;  // what decides a run, and its seed

bool is_real(const Run& run) { return run.facts.protocol.is_on_wall_clock; }

/// Returns the runs with real execution, or those without, that finished.
std::vector<Finished> finished_runs(const ResultFolder& folder,
                                    const std::vector<Group>& groups,
                                    bool real) {
  std::vector<Finished> runs;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    for (const std::size_t i : groups[g].runs) {
      const Run& run = folder.runs[i];
      if (run.state == "finished" && is_real(run) == real) {
        runs.push_back({.group = g, .run = &run});
      }
    }
  }
  return runs;
}

bool is_in_all(std::uint64_t iteration, const std::vector<SeedPair>& pairs) {
  return std::all_of(pairs.begin(), pairs.end(), [&](const SeedPair& pair) {
    const auto predicted = pair.predicted.find(iteration);
    return predicted != pair.predicted.end() && predicted->second > 0 &&
           pair.measured.contains(iteration);
  });
}

std::vector<TimesAtIteration> times_of(const std::vector<SeedPair>& pairs) {
  std::vector<TimesAtIteration> times;
  for (const auto& [iteration, ignored] : pairs.front().measured) {
    if (!is_in_all(iteration, pairs)) {
      continue;
    }
    TimesAtIteration& at = times.emplace_back();
    at.iteration = static_cast<double>(iteration);
    for (const SeedPair& pair : pairs) {
      at.predicted_s.push_back(pair.predicted.at(iteration));
      at.measured_s.push_back(pair.measured.at(iteration));
    }
  }
  return times;
}

PredictedTime held(const ResultFolder& folder,
                   const std::vector<Group>& groups,
                   const std::pair<std::size_t, std::size_t>& real_and_simulated,
                   const std::vector<SeedPair>& pairs) {
  const auto& [real, simulated] = real_and_simulated;
  const Run& first = folder.runs[groups[real].runs.front()];
  PredictedTime held{.label = first.label.empty() ? method_label(first, kExecution) : first.label,
                     .predicted = simulated,
                     .measured = real,
                     .times = times_of(pairs),
                     .ratios = {}};
  if (held.label.empty()) {  // the methods differ in nothing else
    held.label = groups[real].label;
  }
  if (!held.times.empty()) {
    const TimesAtIteration& last = held.times.back();
    std::transform(last.measured_s.begin(),
                   last.measured_s.end(),
                   last.predicted_s.begin(),
                   std::back_inserter(held.ratios),
                   [](double measured, double predicted) { return measured / predicted; });
  }
  return held;
}

}  // namespace

bool PredictedTime::is_in_band() const {
  return std::all_of(ratios.begin(), ratios.end(), [](double ratio) {
    return ratio >= 1 - kPredictionBand && ratio <= 1 + kPredictionBand;
  });
}

std::vector<PredictedTime> hold_against_predictions(const ResultFolder& folder,
                                                    const std::vector<Group>& groups) {
  const auto real_runs = finished_runs(folder, groups, /*real=*/true);
  if (real_runs.empty()) {
    return {};
  }
  std::map<Key, Finished> predictions;
  for (const Finished& one : finished_runs(folder, groups, /*real=*/false)) {
    predictions[{decisive_settings(*one.run), one.run->seed}] = one;
  }
  std::map<std::pair<std::size_t, std::size_t>, std::vector<SeedPair>> pairs;  // by real, simulated
  for (const Finished& one : real_runs) {
    const auto found = predictions.find({decisive_settings(*one.run), one.run->seed});
    if (found == predictions.end()) {
      continue;
    }
    SeedPair pair{.seed = one.run->seed,
                  .predicted = read_seconds(*found->second.run, Column::virtual_s),
                  .measured = read_seconds(*one.run, Column::wall_s)};
    if (!pair.predicted.empty() && !pair.measured.empty()) {
      pairs[{one.group, found->second.group}].push_back(std::move(pair));
    }
  }
  std::vector<PredictedTime> all;
  for (auto& [of_groups, of_seeds] : pairs) {
    std::sort(of_seeds.begin(), of_seeds.end(), [](const SeedPair& a, const SeedPair& b) {
      return a.seed < b.seed;
    });
    if (auto one = held(folder, groups, of_groups, of_seeds); !one.times.empty()) {
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace residuum::reports
