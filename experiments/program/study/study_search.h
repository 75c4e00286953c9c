#pragma once
// A StudySearch has the runs that [search] asks for, to find the largest compression that ends no
// worse than dense training (reports/analysis/critical_ratio.h).

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/config/section.h"
#include "reports/analysis/critical_ratio.h"

namespace residuum {

struct StudySearch {
  std::string key = {};                     // what makes the compression
  std::vector<nlohmann::json> values = {};  // of the key, the least compression first
  std::vector<double> ratios = {};  // 1/density of the values; empty if they are no densities
  std::string quantity = {};        // "loss", "loss-gap" or "accuracy"
  reports::SearchPlan plan = {};
  std::map<std::string, Setting> dense = {};  // the sections of dense training, by dotted key
  std::string place = {};                     // of the key, for messages
  std::size_t seeds = 0;                      // of each method

  /// Returns how many methods and runs the search makes, at most.
  std::size_t most_methods() const { return 1 + reports::most_levels(plan); }
  std::size_t most_runs() const { return most_methods() * seeds; }
  /// Returns the place of a run among those of the study; method 0 is dense.
  std::size_t run_of(std::size_t method, std::size_t seed) const { return method * seeds + seed; }
};

}  // namespace residuum
