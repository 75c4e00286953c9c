#pragma once
// The tuning of a study is read from its folder: study.resolved.json has its plan and the runs that
// it may need, and follow_tuning makes the choices anew from how these ended.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "reports/analysis/groups.h"
#include "reports/analysis/tuning.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

/// Ids of runs by level, of the tuning by trial, and seed; a level that cannot be run has none.
using RunsByLevel = std::vector<std::vector<std::string>>;

struct TunedMethod {
  std::string label;
  Json varying = Json::object();     // of the method, without the tuned keys
  std::optional<std::size_t> group;  // of its runs at the best value, once one has begun
  RunsByLevel tuning;
  RunsByLevel final;
  TuningResult result;

  /// Returns whether the level can be run.
  bool has(std::size_t level) const { return !tuning[level].empty(); }
};

struct TunedStudy {
  TuningPlan plan;
  std::vector<TunedMethod> methods;  // in study order

  /// Returns whether every method has its best value.
  bool is_over() const;
};

/// Returns how a run ended in the quantity that is tuned by.
TuningEnd tuning_end_of(const Run& run, const TuningPlan& plan);
/// Reads it from the folder of a study. A run that cannot be read is missing, for it is made again.
TuningEnd tuning_end_of(const std::filesystem::path& result_dir,
                        const std::string& run_id,
                        const TuningPlan& plan);

/// Returns the plan as study.resolved.json has it.
Json tuning_record(const TuningPlan& plan);

/// Returns the tuning of a study; nothing where it has none. `groups` are those of the folder. A
/// plan that the program has not written is a usage error.
std::optional<TunedStudy> tuned_study(const ResultFolder& folder, const std::vector<Group>& groups);

/// Returns a sentence on the values chosen for a method and the reason, or why none is chosen.
std::string sentence_of(const TunedStudy& study, const TunedMethod& method);

/// Returns a warning for a best value at an edge of the tried values; empty for any other.
std::string edge_warning(const TunedStudy& study, const TunedMethod& method);

/// Returns what a method was tuned on: "loss, seeds 1001 1002, step.value of 0.1 to 1 (5 values)".
std::string tuned_on(const TunedStudy& study, const TunedMethod& method);

/// Returns the words for the quantity: "loss", or "bytes to a loss of 0.35".
std::string quantity_words(const TuningPlan& plan);

}  // namespace residuum::reports
