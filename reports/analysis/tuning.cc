#include "reports/analysis/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/analysis/statistics.h"
#include "reports/tables/result_folder.h"

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
    return fmt::format("the run at {} with seed {}", plan.name(level.level), plan.seeds[seed]);
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

/// Reads the ends of all runs of a level; absent where one is missing.
std::optional<TunedLevel> read_level(const TuningPlan& plan,
                                     std::size_t number,
                                     const TuningEnds& ends,
                                     std::string& trouble) {
  TunedLevel level{.level = number};
  bool is_whole = true;
  for (std::size_t seed = 0; seed < plan.seeds.size(); ++seed) {
    is_whole = add_end(plan, seed, ends(number, seed), level, trouble) && is_whole;
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

TuningResult follow_tuning(const TuningPlan& plan,
                           const LevelExists& exists,
                           const TuningEnds& ends) {
  TuningResult result;
  TriedBox box = grid_of(plan);
  for (bool goes_on = true; goes_on;) {
    result.low = box.low;
    result.high = box.high;
    result.needed = levels_in(plan, box, exists);
    result.levels.clear();
    for (const std::size_t level : result.needed) {
      if (auto read = read_level(plan, level, ends, result.trouble)) {
        result.levels.push_back(*std::move(read));
      }
    }
    if (result.levels.size() < result.needed.size() || result.levels.empty()) {
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
