#pragma once
// A StudyTune has the runs that [tune] asks for, by which every method gets its own values of some
// keys (reports/analysis/tuning.h). A method is one point of the study, without these keys.

#include <cstddef>
#include <string>
#include <vector>

#include "core/config/section.h"
#include "reports/analysis/tuning.h"

namespace residuum {

struct StudyTune {
  reports::TuningPlan plan = {};
  std::vector<std::string> places = {};  // of the tuned keys in the file, for messages
  std::string place = {};                // of the quantity
  std::string place_of_halving = {};
  std::size_t methods = 0;
  std::size_t seeds = 0;  // of the study, at the best values

  std::size_t runs_of_method() const {
    return plan.trials() * plan.seeds.size() + plan.levels() * seeds;
  }
  /// Returns the place of a run among those of the study, by the number of its seed: first of the
  /// tuning by its trials, then at the best level.
  std::size_t tuning_run(std::size_t method, std::size_t trial, std::size_t seed) const {
    return method * runs_of_method() + trial * plan.seeds.size() + seed;
  }
  std::size_t final_run(std::size_t method, std::size_t level, std::size_t seed) const {
    return method * runs_of_method() + plan.trials() * plan.seeds.size() + level * seeds + seed;
  }
};

}  // namespace residuum
