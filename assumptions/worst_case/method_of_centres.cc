// Two steps alternate. Newton's method goes to the centre of the cone at rho: the least point of
//   F(y) = - sum_b weight_b log det S_b(y) - sum_r log row_r(y) - log(1 - norm.y).
// Then rho goes down along the tangent of the path of centres, by most of what the cone permits.
// All steps are the same in any units of the unknowns and of a block's vectors, which differ by
// powers of ten at large L/mu. Long doubles leave three more digits for 1 - rho than doubles.

#include "assumptions/worst_case/method_of_centres.h"

#include <Eigen/Cholesky>
#include <Eigen/Core>

#include <algorithm>
#include <cmath>
#include <limits>

namespace residuum {
namespace centres {
namespace {

using Real = long double;
using RealMatrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using RealVector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;

/// The cone at one rho, and how it changes with rho.
struct Cone {
  struct Block {
    std::vector<RealMatrix> parts;  // of each unknown
    std::vector<RealMatrix> slopes;
    Real weight = 1;
  };
  std::vector<Block> blocks;
  RealMatrix rows;  // rows by unknowns
  RealMatrix row_slopes;
  RealVector norm;
};

RealMatrix square(std::size_t size, const std::vector<Real>& lower) {
  const auto n = static_cast<Eigen::Index>(size);
  RealMatrix matrix(n, n);
  std::size_t at = 0;
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j, ++at) {
      matrix(i, j) = lower[at];
      matrix(j, i) = lower[at];
    }
  }
  return matrix;
}

RealVector vector_of(const std::vector<Real>& entries) {
  return Eigen::Map<const RealVector>(entries.data(), static_cast<Eigen::Index>(entries.size()));
}

Cone cone_at(const RateProgram& program, Real rate) {
  constexpr Real kWeightOfMoving = 4;
  Cone cone;
  for (const auto& block : program.blocks) {
    Cone::Block made;
    bool moves = false;
    for (std::size_t i = 0; i < program.norm.size(); ++i) {
      made.slopes.emplace_back(square(block.size, block.per_rate[i]));
      made.parts.emplace_back(square(block.size, block.fixed[i]) + rate * made.slopes.back());
      moves = moves || !made.slopes.back().isZero(0);
    }
    made.weight = moves ? kWeightOfMoving : 1;
    cone.blocks.push_back(std::move(made));
  }
  cone.norm = vector_of(program.norm);
  cone.rows.resize(static_cast<Eigen::Index>(program.rows.size()), cone.norm.size());
  cone.row_slopes = cone.rows;
  for (std::size_t r = 0; r < program.rows.size(); ++r) {
    const auto row = static_cast<Eigen::Index>(r);
    cone.row_slopes.row(row) = vector_of(program.rows[r].per_rate);
    cone.rows.row(row) =
        vector_of(program.rows[r].fixed) + rate * vector_of(program.rows[r].per_rate);
  }
  return cone;
}

RealMatrix combined(const std::vector<RealMatrix>& parts, const RealVector& y) {
  RealMatrix matrix = y[0] * parts[0];
  for (Eigen::Index i = 1; i < y.size(); ++i) {
    matrix += y[i] * parts[static_cast<std::size_t>(i)];
  }
  return matrix;
}

/// F of a point of the cone at rho + change; infinite outside of it.
Real barrier(const Cone& cone, const RealVector& y, Real change = 0) {
  constexpr Real kOutside = std::numeric_limits<Real>::infinity();
  const RealVector rows = cone.rows * y + change * (cone.row_slopes * y);
  const Real room = 1 - cone.norm.dot(y);
  if (!(rows.array() > 0).all() || !(room > 0)) {
    return kOutside;
  }
  Real value = -rows.array().log().sum() - std::log(room);
  for (const auto& block : cone.blocks) {
    const RealMatrix matrix = combined(block.parts, y) + change * combined(block.slopes, y);
    const Eigen::LLT<RealMatrix> factor(matrix);
    if (factor.info() != Eigen::Success) {
      return kOutside;
    }
    value -= 2 * block.weight * RealMatrix(factor.matrixL()).diagonal().array().log().sum();
  }
  return value;
}

bool contains(const Cone& cone, const RealVector& y, Real change = 0) {
  return std::isfinite(barrier(cone, y, change));
}

/// At a point: the step of Newton's method, and how the centre moves with rho.
struct Directions {
  RealVector newton;
  RealVector path;     // dy/drho
  Real decrement = 0;  // squared
};

/// L^-1 M L^-T for each of the matrices, as columns.
RealMatrix whitened(const Eigen::LLT<RealMatrix>& factor, const std::vector<RealMatrix>& parts) {
  const Eigen::Index size = parts.front().rows();
  RealMatrix columns(size * size, static_cast<Eigen::Index>(parts.size()));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const RealMatrix left = factor.matrixL().solve(parts[i]);
    const RealMatrix both = factor.matrixL().solve(left.transpose());
    columns.col(static_cast<Eigen::Index>(i)) =
        Eigen::Map<const RealVector>(both.data(), size * size);
  }
  return columns;
}

Directions directions_at(const Cone& cone, const RealVector& y) {
  const RealVector rows = (cone.rows * y).cwiseInverse();
  const RealMatrix scaled = rows.asDiagonal() * cone.rows;
  const RealMatrix scaled_slopes = rows.asDiagonal() * cone.row_slopes;
  const RealVector norm = cone.norm / (1 - cone.norm.dot(y));
  RealVector gradient = norm - scaled.colwise().sum().transpose();
  RealVector drift = scaled.transpose() * (scaled_slopes * y) -
                     scaled_slopes.colwise().sum().transpose();  // of the gradient, with rho
  RealMatrix hessian = norm * norm.transpose() + scaled.transpose() * scaled;
  for (const auto& block : cone.blocks) {
    const Eigen::LLT<RealMatrix> factor(combined(block.parts, y));
    const RealMatrix parts = whitened(factor, block.parts);
    const RealMatrix slopes = whitened(factor, block.slopes);
    const Eigen::Index size = block.parts.front().rows();
    const RealMatrix identity = RealMatrix::Identity(size, size);
    const RealVector trace = Eigen::Map<const RealVector>(identity.data(), size * size);
    gradient -= block.weight * (parts.transpose() * trace);
    drift += block.weight * (parts.transpose() * (slopes * y) - slopes.transpose() * trace);
    hessian += block.weight * (parts.transpose() * parts);
  }
  // The unknowns' units differ: so that pivots are comparable, each is taken in its own.
  const RealVector units = hessian.diagonal().cwiseSqrt().cwiseInverse();
  const RealMatrix unit_hessian = units.asDiagonal() * hessian * units.asDiagonal();
  const Eigen::LDLT<RealMatrix> factor(unit_hessian);
  const RealVector move = -factor.solve(units.cwiseProduct(gradient));
  return {.newton = units.cwiseProduct(move),
          .path = -units.cwiseProduct(factor.solve(units.cwiseProduct(drift))),
          .decrement = -units.cwiseProduct(gradient).dot(move)};
}

/// A damped step of Newton's method; returns whether F fell.
bool descend(const Cone& cone, const Directions& directions, RealVector& y) {
  if (!(directions.decrement > 0) || !directions.newton.allFinite()) {
    return false;
  }
  const Real before = barrier(cone, y);
  constexpr Real kLeastLength = 1e-6L;
  constexpr Real kPromised = 0.1L;
  for (Real length = 1; length > kLeastLength; length /= 2) {
    const RealVector next = y + length * directions.newton;
    if (barrier(cone, next) < before - kPromised * length * directions.decrement) {
      y = next;
      return true;
    }
  }
  return false;
}

struct Centre {
  RealVector y;
  RealVector path;  // dy/drho
  int steps = 0;
};

/// Steps from a point of the cone until it is all but central.
Centre centre_of(const Cone& cone, const RealVector& from) {
  constexpr int kMostSteps = 100;
  constexpr Real kCentred = 0.3L;
  Centre centre{.y = from, .path = {}, .steps = 1};
  Directions directions = directions_at(cone, centre.y);
  while (directions.decrement > kCentred && centre.steps < kMostSteps &&
         descend(cone, directions, centre.y)) {
    directions = directions_at(cone, centre.y);
    ++centre.steps;
  }
  centre.path = directions.path;
  return centre;
}

/// Returns by how much rho can fall along the path of the centres until the cone ends, to a few
/// percent.
Real room_below(const Cone& cone, const RealVector& y, const RealVector& path, Real guess) {
  const auto is_inside = [&](Real fall) { return contains(cone, y - fall * path, -fall); };
  Real inside = 0;
  Real outside = guess;
  while (is_inside(outside)) {
    inside = outside;
    outside *= 2;
  }
  constexpr Real kFineness = 0.02L;
  constexpr Real kNothing = 1e-18L;
  while (outside - inside > kFineness * outside && outside > kNothing * guess) {
    const Real middle = (inside + outside) / 2;
    (is_inside(middle) ? inside : outside) = middle;
  }
  return inside;
}

std::optional<RatePoint> descend_to(const RateProgram& program,
                                    const RatePoint& start,
                                    const RateGoal& goal) {
  constexpr int kMostSteps = 400;
  constexpr Real kShare = 0.95L;
  RealVector y = vector_of(start.y);
  y /= 2 * vector_of(program.norm).dot(y);
  Real rate = start.rate;
  if (!contains(cone_at(program, rate), y)) {
    return std::nullopt;
  }
  Real room = rate;
  int steps = 0;
  while (steps < kMostSteps) {
    const Cone cone = cone_at(program, rate);
    const Centre centre = centre_of(cone, y);
    steps += centre.steps;
    y = centre.y;
    if (rate <= goal.floor) {
      break;
    }
    room = room_below(cone, y, centre.path, room);
    const Real fall = std::min(kShare * room, rate - goal.floor);
    if (!(room > goal.precision * std::abs(1 - rate))) {
      break;
    }
    rate = fall < rate - goal.floor ? rate - fall : goal.floor;
    y -= fall * centre.path;
  }
  return RatePoint{.rate = rate, .y = std::vector<Real>(y.begin(), y.end()), .steps = steps};
}

}  // namespace
}  // namespace centres

std::optional<RatePoint> least_rate(const RateProgram& program,
                                    const RatePoint& start,
                                    const RateGoal& goal) {
  return centres::descend_to(program, start, goal);
}

}  // namespace residuum
