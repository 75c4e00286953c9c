#include "reports/analysis/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/analysis/statistics.h"
#include "reports/results/result_folder.h"

namespace residuum::reports {
namespace {

/// The values of each axis that are tried, both ends included.
struct TriedBox {
  std::vector<std::size_t> low;
  std::vector<std::size_t> high;
};

TriedBox grid_of(const TuningPlan& plan) {
  TriedBox box;
  for (const auto& axis : plan.axes) {
    box.low.push_back(axis.first);
    box.high.push_back(axis.last);
  }
  return box;
}

bool is_in(const TriedBox& box, const std::vector<std::size_t>& places) {
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    if (places[axis] < box.low[axis] || places[axis] > box.high[axis]) {
      return false;
    }
  }
  return true;
}

std::vector<std::size_t> levels_in(const TuningPlan& plan,
                                   const TriedBox& box,
                                   const LevelExists& exists) {
  std::vector<std::size_t> levels;
  for (std::size_t level = 0; level < plan.levels(); ++level) {
    if (is_in(box, plan.places_of(level)) && exists(level)) {
      levels.push_back(level);
    }
  }
  return levels;
}

/// Adds the end of a run; returns false where the run has none.
bool add_end(const TuningPlan& plan,
             std::size_t seed,
             const TuningEnd& end,
             TunedLevel& level,
             std::string& trouble) {
  const auto where = [&] {
    return fmt::format("the run at {} with seed {}{}",
                       plan.name(level.level),
                       plan.seeds[seed],
                       level.round + 1 < plan.rounds()
                           ? fmt::format(" and {:.3g} of the budget", plan.share(level.round))
                           : std::string());
  };
  switch (end.kind) {
    case TuningEnd::Kind::missing:
      return false;
    case TuningEnd::Kind::failed:
      trouble = where() + " failed";
      return false;
    case TuningEnd::Kind::unmeasured:
      trouble = fmt::format("{} has not measured {}", where(), plan.quantity);
      return false;
    case TuningEnd::Kind::worst:
      ++level.worst;
      return true;
    case TuningEnd::Kind::value:
      level.values.push_back(end.value);
      return true;
  }
  return false;
}

/// Reads the ends of all runs of a trial; absent where one is missing.
std::optional<TunedLevel> read_level(const TuningPlan& plan,
                                     std::size_t trial,
                                     const TuningEnds& ends,
                                     std::string& trouble) {
  TunedLevel level{.level = plan.level_of(trial), .round = plan.round_of(trial)};
  bool is_whole = true;
  for (std::size_t seed = 0; seed < plan.seeds.size(); ++seed) {
    is_whole = add_end(plan, seed, ends(trial, seed), level, trouble) && is_whole;
  }
  if (!is_whole) {
    return std::nullopt;
  }
  level.mean = mean(level.values);
  if (level.worst == 0) {
    level.interval = student_interval(level.values);
  }
  return level;
}

/// Moves the place on the edge's axis one value outwards.
void move(const TuningEdge& edge, std::vector<std::size_t>& places) {
  if (edge.is_upper) {
    ++places[edge.axis];
  } else {
    --places[edge.axis];
  }
}

/// Returns whether a value beyond that edge of the box can be run beside the best one.
bool can_grow(const TuningPlan& plan,
              const std::vector<std::size_t>& best,
              const TuningEdge& edge,
              const LevelExists& exists) {
  const TuningAxis& axis = plan.axes[edge.axis];
  const bool has_more =
      edge.is_upper ? best[edge.axis] + 1 < axis.values.size() : best[edge.axis] > 0;
  if (!plan.extends || !has_more) {
    return false;
  }
  auto beyond = best;
  move(edge, beyond);
  return exists(plan.level_at(beyond));
}

std::vector<TuningEdge> edges_of(const TuningPlan& plan,
                                 const TriedBox& box,
                                 const std::vector<std::size_t>& best) {
  std::vector<TuningEdge> edges;
  for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
    if (!plan.axes[axis].is_ordered()) {
      continue;
    }
    for (const bool is_upper : {false, true}) {
      if (best[axis] == (is_upper ? box.high : box.low)[axis]) {
        edges.push_back({.axis = axis, .is_upper = is_upper});
      }
    }
  }
  return edges;
}

/// Moves the edges at which the best value lies; returns false where none can be moved.
bool grow(const TuningPlan& plan,
          const std::vector<std::size_t>& best,
          const LevelExists& exists,
          TriedBox& box) {
  bool has_grown = false;
  for (const auto& edge : edges_of(plan, box, best)) {
    if (can_grow(plan, best, edge, exists)) {
      has_grown = true;
      move(edge, edge.is_upper ? box.high : box.low);
    }
  }
  return has_grown;
}

}  // namespace

std::size_t TuningPlan::levels() const {
  std::size_t count = 1;
  for (const auto& axis : axes) {
    count *= axis.values.size();
  }
  return count;
}

std::size_t TuningPlan::grid_levels() const {
  std::size_t count = 1;
  for (const auto& axis : axes) {
    count *= axis.last - axis.first + 1;
  }
  return count;
}

std::size_t TuningPlan::rounds() const {
  std::size_t count = 1;
  for (std::size_t left = grid_levels(); halving > 1 && left > halving; ++count) {
    left = (left + halving - 1) / halving;
  }
  return count;
}

std::size_t TuningPlan::kept(std::size_t round) const {
  std::size_t left = grid_levels();
  for (std::size_t i = 0; i < round; ++i) {
    left = (left + halving - 1) / halving;
  }
  return left;
}

double TuningPlan::share(std::size_t round) const {
  double share = 1;
  for (std::size_t i = round + 1; i < rounds(); ++i) {
    share /= static_cast<double>(halving);
  }
  return share;
}

std::vector<std::size_t> TuningPlan::places_of(std::size_t level) const {
  std::vector<std::size_t> places(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    places[axis] = level % axes[axis].values.size();
    level /= axes[axis].values.size();
  }
  return places;
}

std::size_t TuningPlan::level_at(const std::vector<std::size_t>& places) const {
  std::size_t level = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    level = level * axes[axis].values.size() + places[axis];
  }
  return level;
}

std::string TuningPlan::name(std::size_t level) const {
  const auto places = places_of(level);
  std::string text;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    text += fmt::format("{}{} = {}",
                        text.empty() ? "" : ", ",
                        axes[axis].key,
                        plain_text(axes[axis].values[places[axis]]));
  }
  return text;
}

bool is_better(const TuningPlan& plan, const TunedLevel& one, const TunedLevel& other) {
  if (one.worst != other.worst) {
    return one.worst < other.worst;
  }
  if (one.mean && other.mean && *one.mean != *other.mean) {
    return plan.higher_is_better() ? *one.mean > *other.mean : *one.mean < *other.mean;
  }
  return one.level < other.level;
}

namespace {

/// Reads the trials of `result.needed` from `first` on; false where one has not ended.
bool read_levels(const TuningPlan& plan,
                 std::size_t first,
                 const TuningEnds& ends,
                 TuningResult& result) {
  bool is_whole = first < result.needed.size();
  for (std::size_t i = first; i < result.needed.size(); ++i) {
    auto read = read_level(plan, result.needed[i], ends, result.trouble);
    is_whole = is_whole && read.has_value();
    if (read) {
      result.levels.push_back(*std::move(read));
    }
  }
  return is_whole;
}

/// Returns whether the seeds tell that `one` is worse than `other`.
bool is_surely_worse(const TuningPlan& plan, const TunedLevel& one, const TunedLevel& other) {
  if (one.worst > other.worst) {
    return true;
  }
  if (one.values.size() != other.values.size() || other.worst > 0) {
    return false;  // their runs are of other seeds
  }
  std::vector<double> behind;
  for (std::size_t seed = 0; seed < one.values.size(); ++seed) {
    const double difference = one.values[seed] - other.values[seed];
    behind.push_back(plan.higher_is_better() ? -difference : difference);
  }
  const auto interval = student_interval(behind);
  return interval && interval->low > 0;
}

/// Returns the levels of the best ones, and counts those that go.
std::vector<std::size_t> levels_that_stay(const TuningPlan& plan,
                                          const std::vector<TunedLevel>& ranking,
                                          std::size_t most,
                                          TuningResult& result) {
  const std::size_t kept = std::min(most, ranking.size());
  std::vector<std::size_t> levels;
  for (std::size_t i = 0; i < ranking.size(); ++i) {
    if (i < kept) {
      levels.push_back(ranking[i].level);
    } else {
      ++result.left_out;
      result.undecided += is_surely_worse(plan, ranking[i], ranking[kept - 1]) ? 0U : 1U;
    }
  }
  std::sort(levels.begin(), levels.end());
  return levels;
}

/// Chooses by rounds, each on a larger part of the budget than the one before.
TuningResult follow_halving(const TuningPlan& plan,
                            const LevelExists& exists,
                            const TuningEnds& ends) {
  TuningResult result;
  const TriedBox box = grid_of(plan);
  result.low = box.low;
  result.high = box.high;
  std::vector<std::size_t> stayed = levels_in(plan, box, exists);
  for (std::size_t round = 0; round < plan.rounds(); ++round) {
    const std::size_t first = result.needed.size();
    for (const std::size_t level : stayed) {
      result.needed.push_back(plan.trial(round, level));
    }
    if (!read_levels(plan, first, ends, result)) {
      result.best.reset();
      return result;
    }
    std::vector<TunedLevel> ranking(
        result.levels.end() - static_cast<std::ptrdiff_t>(stayed.size()), result.levels.end());
    std::sort(ranking.begin(), ranking.end(), [&](const TunedLevel& a, const TunedLevel& b) {
      return is_better(plan, a, b);
    });
    result.best = ranking.front();
    if (round + 1 < plan.rounds()) {
      stayed = levels_that_stay(plan, ranking, plan.kept(round + 1), result);
    }
  }
  result.edges = edges_of(plan, box, plan.places_of(result.best->level));
  result.is_over = true;
  return result;
}

}  // namespace

TuningResult follow_tuning(const TuningPlan& plan,
                           const LevelExists& exists,
                           const TuningEnds& ends) {
  if (plan.halving > 0) {
    return follow_halving(plan, exists, ends);
  }
  TuningResult result;
  TriedBox box = grid_of(plan);
  for (bool goes_on = true; goes_on;) {
    result.low = box.low;
    result.high = box.high;
    result.needed = levels_in(plan, box, exists);
    result.levels.clear();
    if (!read_levels(plan, 0, ends, result)) {
      return result;
    }
    const auto best = std::min_element(
        result.levels.begin(), result.levels.end(), [&](const TunedLevel& a, const TunedLevel& b) {
          return is_better(plan, a, b);
        });
    result.best = *best;
    const auto places = plan.places_of(best->level);
    result.edges = edges_of(plan, box, places);
    goes_on = grow(plan, places, exists, box);
    if (goes_on) {
      result.best.reset();
      result.edges.clear();
    }
  }
  result.is_over = true;
  return result;
}

}  // namespace residuum::reports
