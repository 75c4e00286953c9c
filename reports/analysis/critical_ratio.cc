#include "reports/analysis/critical_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "assumptions/estimators/intervals.h"

namespace residuum::reports {
namespace {

/// Differences that are all the same have no spread to judge by: chance can make them so. It is
/// known where they must be the same because compressed and dense runs are.
std::optional<Interval> interval_of(const std::vector<double>& values,
                                    double error,
                                    bool same_runs) {
  const bool all_equal =
      std::all_of(values.begin(), values.end(), [&](double x) { return x == values.front(); });
  if (all_equal && !same_runs) {
    return std::nullopt;
  }
  return mean_interval_of_error(values, error);
}

class Search {
 public:
  Search(const SearchPlan& plan, const Endings& endings) : plan_(plan), endings_(endings) {
    result_.seeds.assign(1 + plan.levels, 0);
  }

  SearchResult follow() {
    // Levels below `held` have no significant loss, those from `lost` on have one or may.
    std::size_t held = 0;
    std::size_t lost = plan_.levels;
    while (held < lost) {
      const std::size_t level = plan_.ascends ? held : held + (lost - held) / 2;
      const auto decision = decide(level);
      if (!decision) {
        return result_;
      }
      const bool is_held = *decision == Decision::no_loss || *decision == Decision::none_found;
      (is_held ? held : lost) = is_held ? level + 1 : level;
    }
    result_.is_over = true;
    if (held > 0) {
      result_.largest = held - 1;
    }
    result_.is_monotone = is_monotone();
    return result_;
  }

 private:
  /// Looks at a level until it is decided or out of seeds. Returns nothing if the search cannot go
  /// on.
  std::optional<Decision> decide(std::size_t level) {
    for (std::size_t k = 0; k < plan_.looks.size(); ++k) {
      if (!look(level, k)) {
        return std::nullopt;
      }
      const Decision decision = result_.looks.back().decision;
      if (decision != Decision::undecided) {
        return decision;
      }
    }
    return Decision::undecided;
  }

  bool look(std::size_t level, std::size_t k) {
    const std::size_t n = plan_.looks[k];
    result_.seeds[0] = std::max(result_.seeds[0], n);
    result_.seeds[1 + level] = n;
    SearchLook made{.level = level, .n = n, .error = error_of_look(plan_, k)};
    std::vector<double> losses;
    std::vector<double> excesses;
    bool diverged = false;
    bool missing = false;
    for (std::size_t seed = 0; seed < n; ++seed) {
      const Ending dense = endings_(0, seed);
      const Ending own = endings_(1 + level, seed);
      if (!is_usable(dense, own, level, seed)) {
        return false;
      }
      missing = missing || dense.kind == Ending::Kind::missing || own.kind == Ending::Kind::missing;
      if (missing) {
        continue;
      }
      if (own.kind == Ending::Kind::diverged) {
        diverged = true;
        continue;
      }
      const double loss =
          plan_.higher_is_better ? dense.value - own.value : own.value - dense.value;
      losses.push_back(loss);
      excesses.push_back(loss - (plan_.is_relative ? plan_.margin * dense.value : plan_.margin));
    }
    if (missing) {
      return false;
    }
    if (diverged) {
      made.loss = made.excess = std::numeric_limits<double>::infinity();
      made.decision = Decision::loss;
    } else {
      judge(losses, excesses, k, made);
    }
    result_.looks.push_back(made);
    return true;
  }

  void judge(const std::vector<double>& losses,
             const std::vector<double>& excesses,
             std::size_t k,
             SearchLook& made) const {
    made.loss = plain_mean(losses);
    const bool same_runs =
        std::all_of(losses.begin(), losses.end(), [](double loss) { return loss == 0; });
    made.loss_interval = interval_of(losses, made.error, same_runs);
    made.excess = plain_mean(excesses);
    made.skewness = skewness_of(excesses);
    made.excess_interval = interval_of(excesses, made.error, same_runs);
    if (made.excess_interval && made.excess_interval->low > 0) {
      made.decision = Decision::loss;
    } else if (made.excess_interval && made.excess_interval->high < 0) {
      made.decision = Decision::no_loss;
    } else if (plan_.margin == 0 && k + 1 == plan_.looks.size()) {
      made.decision = Decision::none_found;
    }
  }

  /// Notes what a pair of runs cannot be compared for.
  bool is_usable(const Ending& dense, const Ending& own, std::size_t level, std::size_t seed) {
    const auto trouble = [&](const char* who, const std::string& what) {
      result_.trouble = fmt::format("{} {} with seed number {}", who, what, seed + 1);
      return false;
    };
    const std::string compressed = fmt::format("compression number {}", level + 1);
    if (dense.kind == Ending::Kind::diverged) {
      return trouble("dense training", "diverged");
    }
    for (const auto* one : {&dense, &own}) {
      const char* who = one == &dense ? "dense training" : compressed.c_str();
      if (one->kind == Ending::Kind::failed) {
        return trouble(who, "failed");
      }
      if (one->kind == Ending::Kind::finished && !std::isfinite(one->value)) {
        return trouble(who, "has not measured the quantity");
      }
    }
    if (plan_.is_relative && dense.kind == Ending::Kind::finished && dense.value <= 0) {
      return trouble("dense training",
                     "ends at a value that is not positive, which relative_margin needs,");
    }
    return true;
  }

  bool is_monotone() const {
    for (std::size_t weak = 0; weak < plan_.levels; ++weak) {
      for (std::size_t strong = weak + 1; strong < plan_.levels; ++strong) {
        const auto* a = result_.last_look(weak);
        const auto* b = result_.last_look(strong);
        const bool both = a != nullptr && b != nullptr && a->loss_interval && b->loss_interval;
        if (both && a->loss_interval->low > b->loss_interval->high) {
          return false;
        }
      }
    }
    return true;
  }

  const SearchPlan& plan_;
  const Endings& endings_;
  SearchResult result_;
};

}  // namespace

const SearchLook* SearchResult::last_look(std::size_t level) const {
  const auto found = std::find_if(
      looks.rbegin(), looks.rend(), [&](const SearchLook& look) { return look.level == level; });
  return found == looks.rend() ? nullptr : &*found;
}

SearchResult follow_search(const SearchPlan& plan, const Endings& endings) {
  assert(plan.levels >= 1 && !plan.looks.empty() && plan.looks.front() >= 2);
  return Search(plan, endings).follow();
}

double skewness_of(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = plain_mean(values);
  double squares = 0;
  double cubes = 0;
  for (const double x : values) {
    squares += (x - mean) * (x - mean) / n;
    cubes += (x - mean) * (x - mean) * (x - mean) / n;
  }
  return squares > 0 && std::isfinite(cubes) ? cubes / std::pow(squares, 1.5) : 0;
}

double error_of_look(const SearchPlan& plan, std::size_t look) {
  const auto spent = [&](std::size_t n) {
    const double part = static_cast<double>(n) / static_cast<double>(plan.looks.back());
    return plan.alpha / static_cast<double>(plan.levels) * part * part;
  };
  return spent(plan.looks[look]) - (look == 0 ? 0 : spent(plan.looks[look - 1]));
}

std::size_t most_levels(const SearchPlan& plan) {
  std::size_t visits = 0;
  for (std::size_t left = plan.levels; left > 0; left /= 2) {
    ++visits;  // bisection leaves at most half of the levels
  }
  return plan.ascends ? plan.levels : visits;
}

std::vector<std::size_t> doubling_looks(std::size_t first, std::size_t most) {
  std::vector<std::size_t> looks;
  for (std::size_t n = first; n < most; n *= 2) {
    looks.push_back(n);
  }
  looks.push_back(most);
  return looks;
}

}  // namespace residuum::reports
