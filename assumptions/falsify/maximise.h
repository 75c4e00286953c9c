#pragma once
// Two methods maximise a function without derivatives, which may jump and may be undefined in
// places (-inf there): a search along the coordinates, and the simplex of Nelder and Mead, Computer
// Journal 1965, with the dimension-dependent parameters of Gao and Han, Comput. Optim. Appl. 2012.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/random/random.h"

namespace residuum {

struct Candidate {
  std::vector<double> x;
  double value = 0;
};

/// A function and how often it may still be called.
class Budgeted {
 public:
  using Function = std::function<double(std::span<const double>)>;
  Budgeted(Function function, std::uint64_t calls) : function_(std::move(function)), left_(calls) {}

  /// Must not be called when no call is left.
  double operator()(std::span<const double> x);
  std::uint64_t left() const { return left_; }

 private:
  Function function_;
  std::uint64_t left_;
};

/// Steps along one coordinate after the other, in random order, and where that gains nothing along
/// random pairs of them, from `step` down to `least_step` in halves; a direction that gains is
/// followed in doubling strides. The best becomes `candidate`.
void coordinate_search(
    Budgeted& function, RandomStream& random, double step, double least_step, Candidate& candidate);

/// Moves a simplex, at first around the candidate with edges of `size`, until it has shrunk to
/// `least_size` or no call is left. The best becomes `candidate`.
void nelder_mead(Budgeted& function, double size, double least_size, Candidate& candidate);

/// Lengths of an ascent by both methods, in units of the numbers that are searched.
struct AscentLengths {
  double first_step = 0.5;
  double least_step = 1e-7;
  double simplex = 0.1;
  std::size_t most_of_simplex = 60;  // with more numbers there is no simplex
};

/// Ascends from the candidate by the search along the coordinates, then by the simplex.
void ascend(Budgeted& function,
            RandomStream& random,
            const AscentLengths& lengths,
            Candidate& candidate);

/// How hard was searched.
struct SearchEffort {
  std::uint64_t evaluations = 0;
  std::uint64_t restarts = 0;
};

/// Calls `ascend(restart, most)` for restarts 0, 1, ... until all evaluations are used; it returns
/// how many of `most` it has used, at least one. No ascent may use more than one of
/// `fewest_restarts` equal parts.
SearchEffort with_restarts(
    std::uint64_t evaluations,
    std::uint64_t fewest_restarts,
    const std::function<std::uint64_t(std::uint64_t restart, std::uint64_t most)>& ascend);

}  // namespace residuum
