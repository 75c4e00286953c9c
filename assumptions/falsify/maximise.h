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

struct Refinement {
  double first_step = 0.5;
  double least_step = 1e-7;
  double edge = 0.1;                    // of the simplex
  std::size_t simplex_dimensions = 60;  // with more there is no simplex
};

/// Refines a candidate along the coordinates and then, in few dimensions, by a simplex.
void refine(Budgeted& function,
            RandomStream& random,
            const Refinement& steps,
            Candidate& candidate);

/// What a search has used.
struct Effort {
  std::uint64_t evaluations = 0;
  std::uint64_t restarts = 0;
};

/// Calls `restart(number, most)`, which returns how many of `most` evaluations it used, until
/// `evaluations` are used. They are shared by at least `fewest` restarts: one may not use up all.
Effort search_with_restarts(
    std::uint64_t evaluations,
    std::uint64_t fewest,
    const std::function<std::uint64_t(std::uint64_t number, std::uint64_t most)>& restart);

}  // namespace residuum
