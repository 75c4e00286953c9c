#include "assumptions/falsify/maximise.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <utility>

namespace residuum {
namespace {

/// A move of one coordinate, or of two at once.
struct Move {
  std::size_t i = 0;
  std::size_t j = 0;
  double by_i = 0;
  double by_j = 0;
};

/// Takes the move if that gains, and goes on in doubling strides while it does.
bool follow(Budgeted& function, Move move, Candidate& candidate) {
  bool gained = false;
  while (function.left() > 0) {
    const double before_i = candidate.x[move.i];
    const double before_j = candidate.x[move.j];
    candidate.x[move.i] += move.by_i;
    candidate.x[move.j] += move.by_j;
    const double value = function(candidate.x);
    if (!(value > candidate.value)) {
      candidate.x[move.j] = before_j;
      candidate.x[move.i] = before_i;
      break;
    }
    candidate.value = value;
    gained = true;
    move.by_i *= 2;
    move.by_j *= 2;
  }
  return gained;
}

/// Tries one coordinate after the other, both ways.
bool sweep(Budgeted& function,
           const std::vector<std::size_t>& order,
           double step,
           Candidate& candidate) {
  bool gained = false;
  for (const std::size_t i : order) {
    gained |= follow(function, {.i = i, .j = i, .by_i = step}, candidate) ||
              follow(function, {.i = i, .j = i, .by_i = -step}, candidate);
  }
  return gained;
}

/// Tries as many random pairs of coordinates as there are coordinates, each in a random direction:
/// a candidate on the edge of a jump gains only if two entries give way at once.
bool sweep_pairs(Budgeted& function, RandomStream& random, double step, Candidate& candidate) {
  const auto n = static_cast<std::uint32_t>(candidate.x.size());
  bool gained = false;
  for (std::uint32_t tried = 0; tried < n && n > 1; ++tried) {
    const std::size_t i = random.below(n);
    const std::size_t j = (i + 1 + random.below(n - 1)) % n;
    const double by_i = random.uniform() < 0.5 ? -step : step;
    const double by_j = random.uniform() < 0.5 ? -step : step;
    gained |= follow(function, {.i = i, .j = j, .by_i = by_i, .by_j = by_j}, candidate);
  }
  return gained;
}

void shuffle(RandomStream& random, std::vector<std::size_t>& order) {
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[random.below(static_cast<std::uint32_t>(left))]);
  }
}

/// The simplex has n + 1 candidates, best first.
class Simplex {
 public:
  Simplex(Budgeted& function, const Candidate& start, double size) : function_(function) {
    const auto n = static_cast<double>(start.x.size());
    expansion_ = 1 + 2 / n;
    contraction_ = 0.75 - 1 / (2 * n);
    shrinkage_ = 1 - 1 / n;
    corners_.push_back(start);
    for (std::size_t i = 0; i < start.x.size() && function_.left() > 0; ++i) {
      Candidate corner = start;
      corner.x[i] += size;
      corner.value = function_(corner.x);
      corners_.push_back(std::move(corner));
    }
    is_whole_ = corners_.size() == start.x.size() + 1;
    sort();
  }

  bool is_whole() const { return is_whole_; }
  const Candidate& best() const { return corners_.front(); }

  /// The largest distance along a coordinate from the best corner.
  double size() const {
    double largest = 0;
    for (const auto& corner : corners_) {
      for (std::size_t i = 0; i < corner.x.size(); ++i) {
        largest = std::max(largest, std::abs(corner.x[i] - best().x[i]));
      }
    }
    return largest;
  }

  /// Moves the worst corner, or shrinks all towards the best. At most n + 2 calls.
  void move() {
    const std::vector<double> centre = centre_of_all_but_the_worst();
    const Candidate reflected = beyond(centre, 1);
    if (reflected.value > best().value) {
      const Candidate expanded = beyond(centre, expansion_);
      replace_worst(expanded.value > reflected.value ? expanded : reflected);
    } else if (reflected.value > corners_[corners_.size() - 2].value) {
      replace_worst(reflected);
    } else {
      const bool outside = reflected.value > corners_.back().value;
      const Candidate contracted = beyond(centre, outside ? contraction_ : -contraction_);
      const double to_beat = outside ? reflected.value : corners_.back().value;
      if (contracted.value > to_beat) {
        replace_worst(contracted);
      } else {
        shrink();
      }
    }
    sort();
  }

 private:
  void sort() {
    std::stable_sort(corners_.begin(), corners_.end(), [](const auto& a, const auto& b) {
      return a.value > b.value;
    });
  }

  std::vector<double> centre_of_all_but_the_worst() const {
    const std::size_t n = corners_.size() - 1;
    std::vector<double> centre(n);
    for (std::size_t corner = 0; corner < n; ++corner) {
      for (std::size_t i = 0; i < n; ++i) {
        centre[i] += corners_[corner].x[i] / static_cast<double>(n);
      }
    }
    return centre;
  }

  /// Returns centre + factor (centre - worst).
  Candidate beyond(const std::vector<double>& centre, double factor) {
    Candidate candidate{.x = centre, .value = 0};
    for (std::size_t i = 0; i < centre.size(); ++i) {
      candidate.x[i] += factor * (centre[i] - corners_.back().x[i]);
    }
    candidate.value = function_(candidate.x);
    return candidate;
  }

  void replace_worst(const Candidate& candidate) { corners_.back() = candidate; }

  void shrink() {
    for (std::size_t corner = 1; corner < corners_.size(); ++corner) {
      auto& x = corners_[corner].x;
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = best().x[i] + shrinkage_ * (x[i] - best().x[i]);
      }
      corners_[corner].value = function_(x);
    }
  }

  Budgeted& function_;
  double expansion_ = 2;
  double contraction_ = 0.5;
  double shrinkage_ = 0.5;
  std::vector<Candidate> corners_;
  bool is_whole_ = false;
};

}  // namespace

double Budgeted::operator()(std::span<const double> x) {
  assert(left_ > 0);
  --left_;
  return function_(x);
}

void coordinate_search(Budgeted& function,
                       RandomStream& random,
                       double step,
                       double least_step,
                       Candidate& candidate) {
  std::vector<std::size_t> order(candidate.x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  while (step >= least_step && function.left() > 0) {
    shuffle(random, order);
    if (!sweep(function, order, step, candidate) &&
        !sweep_pairs(function, random, step, candidate)) {
      step /= 2;
    }
  }
}

void nelder_mead(Budgeted& function, double size, double least_size, Candidate& candidate) {
  // In one dimension the parameters degenerate, and the coordinate search does all there is to do.
  const std::size_t n = candidate.x.size();
  if (n < 2) {
    return;
  }
  Simplex simplex(function, candidate, size);
  while (simplex.is_whole() && function.left() >= n + 2 && simplex.size() > least_size) {
    simplex.move();
  }
  candidate = simplex.best();
}

void refine(Budgeted& function,
            RandomStream& random,
            const Refinement& steps,
            Candidate& candidate) {
  coordinate_search(function, random, steps.first_step, steps.least_step, candidate);
  if (candidate.x.size() <= steps.simplex_dimensions) {
    nelder_mead(function, steps.edge, steps.least_step, candidate);
  }
}

Effort search_with_restarts(
    std::uint64_t evaluations,
    std::uint64_t fewest,
    const std::function<std::uint64_t(std::uint64_t number, std::uint64_t most)>& restart) {
  const std::uint64_t share = std::max<std::uint64_t>(evaluations / fewest, 1);
  Effort used;
  while (used.evaluations < evaluations) {
    const std::uint64_t most = std::min(share, evaluations - used.evaluations);
    used.evaluations += restart(used.restarts, most);
    ++used.restarts;
  }
  return used;
}

}  // namespace residuum
