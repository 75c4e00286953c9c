#pragma once
// The search of a study is read from its folder: study.resolved.json has its plan and its runs, and
// follow_search makes it anew from how they ended.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/analysis/critical_ratio.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {

struct CriticalRatio {
  std::string key;
  std::string quantity;
  std::vector<Json> values;    // of the key, by level
  std::vector<double> ratios;  // by level; empty where the values are no densities
  SearchPlan plan;
  SearchResult result;

  /// Returns what people call a level: "500", or "sparsifier.k = 20".
  std::string name(std::size_t level) const;
};

/// Returns how a run ended; `quantity` is "loss", "loss-gap" or "accuracy".
Ending ending_of(const Run& run, std::string_view quantity);
/// Reads it from the folder of a study. A run that cannot be read is missing, for it is made again.
Ending ending_of(const std::filesystem::path& result_dir,
                 const std::string& run_id,
                 std::string_view quantity);

/// Returns the search of a study; nothing where it has none. A plan that the program has not
/// written is a usage error.
std::optional<CriticalRatio> critical_ratio(const ResultFolder& folder);

/// Returns the result in a sentence.
std::string sentence_of(const CriticalRatio& search);

/// "no loss", "none found", "loss" or "undecided".
std::string_view word_of(Decision decision);

}  // namespace residuum::reports
