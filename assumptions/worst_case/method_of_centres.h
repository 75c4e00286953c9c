#pragma once
// The least rho for which a point of a cone exists that depends on rho: a generalised eigenvalue
// problem. The method of centres (Boyd, El Ghaoui, "Method of centers for minimizing generalized
// eigenvalues", Linear Algebra Appl. 1993) in long doubles.

#include <cstddef>
#include <optional>
#include <vector>

namespace residuum {

/// For unknowns y and rho: sum_i y_i (A_i + rho B_i) positive definite in every block, y.(a + rho
/// b) positive in every row. All lists of `fixed` and `per_rate` have an entry for every unknown.
struct RateProgram {
  struct Block {
    std::size_t size = 0;
    std::vector<std::vector<long double>> fixed;     // A_i: lower triangles, row by row
    std::vector<std::vector<long double>> per_rate;  // B_i
  };
  struct Row {
    std::vector<long double> fixed;     // a
    std::vector<long double> per_rate;  // b
  };
  std::vector<Block> blocks;
  std::vector<Row> rows;
  std::vector<long double> norm;  // norm.y > 0 in the cone; it is held below 1
};

struct RatePoint {
  long double rate = 1;
  std::vector<long double> y;
  int steps = 0;  // of Newton's method
};

/// The search for the least rho ends here.
struct RateGoal {
  long double floor = 0;          // a rho that it does not go below
  long double precision = 1e-9L;  // it ends where rho can fall by this share of |1 - rho|
};

/// Takes a point of the cone down to the least rho it finds. `start` must be in the cone at
/// `start.rate`; absent if it is not.
std::optional<RatePoint> least_rate(const RateProgram& program,
                                    const RatePoint& start,
                                    const RateGoal& goal = {});

}  // namespace residuum
