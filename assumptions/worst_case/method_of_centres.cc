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

/// The cone at one rho, and how it changes with rho. The matrices of the unknowns are columns.
struct Cone {
  struct Block {
    Eigen::Index size = 0;
    RealMatrix parts;  // size^2 by unknowns
    RealMatrix slopes;
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

/// The matrices as columns.
RealMatrix columns_of(std::size_t size, const std::vector<std::vector<Real>>& lower) {
  RealMatrix columns(static_cast<Eigen::Index>(size * size),
                     static_cast<Eigen::Index>(lower.size()));
  for (std::size_t i = 0; i < lower.size(); ++i) {
    columns.col(static_cast<Eigen::Index>(i)) = square(size, lower[i]).reshaped();
  }
  return columns;
}

Cone cone_at(const RateProgram& program, Real rate) {
  constexpr Real kWeightOfMoving = 4;
  Cone cone;
  for (const auto& block : program.blocks) {
    Cone::Block made{.size = static_cast<Eigen::Index>(block.size),
                     .parts = columns_of(block.size, block.fixed),
                     .slopes = columns_of(block.size, block.per_rate)};
    made.parts += rate * made.slopes;
    made.weight = made.slopes.isZero(0) ? 1 : kWeightOfMoving;
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

/// The sum of the matrices that are columns, each times its unknown.
RealMatrix combined(const Cone::Block& block, const RealMatrix& columns, const RealVector& y) {
  return (columns * y).reshaped(block.size, block.size);
}

/// F on the line of y + t direction at rho + t change. Matrices and rows are polynomials of t of
/// the degree 2, which are formed once.
class Line {
 public:
  Line(const Cone& cone, const RealVector& y, const RealVector& direction, Real change)
      : room_(1 - cone.norm.dot(y)), room_linear_(-cone.norm.dot(direction)) {
    for (const auto& block : cone.blocks) {
      blocks_.push_back({.fixed = combined(block, block.parts, y),
                         .linear = combined(block, block.parts, direction) +
                                   change * combined(block, block.slopes, y),
                         .square = change * combined(block, block.slopes, direction),
                         .weight = block.weight});
    }
    rows_ = cone.rows * y;
    row_linear_ = cone.rows * direction + change * (cone.row_slopes * y);
    row_square_ = change * (cone.row_slopes * direction);
  }

  /// F at t; infinite outside of the cone.
  Real operator()(Real t) const {
    constexpr Real kOutside = std::numeric_limits<Real>::infinity();
    const RealVector rows = rows_ + t * (row_linear_ + t * row_square_);
    const Real room = room_ + t * room_linear_;
    if (!(rows.array() > 0).all() || !(room > 0)) {
      return kOutside;
    }
    Real value = -rows.array().log().sum() - std::log(room);
    for (const auto& block : blocks_) {
      const Eigen::LLT<RealMatrix> factor(block.fixed + t * (block.linear + t * block.square));
      if (factor.info() != Eigen::Success) {
        return kOutside;
      }
      value -= 2 * block.weight * factor.matrixLLT().diagonal().array().log().sum();
    }
    return value;
  }

  bool contains(Real t) const { return std::isfinite((*this)(t)); }

 private:
  struct Polynomial {
    RealMatrix fixed;
    RealMatrix linear;
    RealMatrix square;
    Real weight = 1;
  };
  std::vector<Polynomial> blocks_;
  RealVector rows_;
  RealVector row_linear_;
  RealVector row_square_;
  Real room_;
  Real room_linear_;
};

bool contains(const Cone& cone, const RealVector& y) {
  return Line(cone, y, RealVector::Zero(y.size()), 0).contains(0);
}

/// At a point: the step of Newton's method, and how the centre moves with rho.
struct Directions {
  RealVector newton;
  RealVector path;     // dy/drho
  Real decrement = 0;  // squared
};

/// The lower triangle row by row. Entries off the diagonal are scaled, so that the product of two
/// triangles is that of the whole matrices.
RealVector triangle_of(const RealMatrix& matrix) {
  const Real root = std::sqrt(Real(2));
  RealVector entries(matrix.rows() * (matrix.rows() + 1) / 2);
  Eigen::Index at = 0;
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j, ++at) {
      entries[at] = i == j ? matrix(i, j) : root * matrix(i, j);
    }
  }
  return entries;
}

/// Returns the places of the rows of a symmetric matrix that are not zero.
std::vector<Eigen::Index> rows_used(const RealMatrix& matrix) {
  std::vector<Eigen::Index> used;
  for (Eigen::Index i = 0; i < matrix.cols(); ++i) {
    if (!matrix.col(i).isZero(0)) {
      used.push_back(i);
    }
  }
  return used;
}

/// The triangles of L^-1 M L^-T for each of the matrices, as columns. Most have few rows that are
/// not zero.
RealMatrix whitened(const RealMatrix& inverse,
                    const Cone::Block& block,
                    const RealMatrix& columns) {
  RealMatrix made = RealMatrix::Zero(block.size * (block.size + 1) / 2, columns.cols());
  for (Eigen::Index i = 0; i < columns.cols(); ++i) {
    const RealMatrix matrix = columns.col(i).reshaped(block.size, block.size);
    const auto used = rows_used(matrix);
    const RealMatrix sides = inverse(Eigen::all, used);
    const RealMatrix left = sides.lazyProduct(matrix(used, used));
    made.col(i) = triangle_of(left.lazyProduct(sides.transpose()));
  }
  return made;
}

/// Adds weight columns^T columns to the lower triangle. The columns are short, and few.
void add_square(Real weight, const RealMatrix& columns, RealMatrix& lower) {
  for (Eigen::Index j = 0; j < columns.cols(); ++j) {
    for (Eigen::Index i = j; i < columns.cols(); ++i) {
      lower(i, j) += weight * columns.col(i).dot(columns.col(j));
    }
  }
}

Directions directions_at(const Cone& cone, const RealVector& y) {
  const RealVector rows = (cone.rows * y).cwiseInverse();
  const RealMatrix scaled = rows.asDiagonal() * cone.rows;
  const RealMatrix scaled_slopes = rows.asDiagonal() * cone.row_slopes;
  const RealVector norm = cone.norm / (1 - cone.norm.dot(y));
  RealVector gradient = norm - scaled.colwise().sum().transpose();
  RealVector drift = scaled.transpose() * (scaled_slopes * y) -
                     scaled_slopes.colwise().sum().transpose();  // of the gradient, with rho
  RealMatrix hessian = RealMatrix::Zero(y.size(), y.size());     // its lower triangle
  add_square(1, norm.transpose(), hessian);
  add_square(1, scaled, hessian);
  for (const auto& block : cone.blocks) {
    const Eigen::LLT<RealMatrix> factor(combined(block, block.parts, y));
    const RealMatrix inverse = factor.matrixL().solve(RealMatrix::Identity(block.size, block.size));
    const RealMatrix parts = whitened(inverse, block, block.parts);
    const RealMatrix slopes = whitened(inverse, block, block.slopes);
    const RealVector trace = triangle_of(RealMatrix::Identity(block.size, block.size));
    gradient -= block.weight * (parts.transpose() * trace);
    drift += block.weight * (parts.transpose() * (slopes * y) - slopes.transpose() * trace);
    add_square(block.weight, parts, hessian);
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
  const Line line(cone, y, directions.newton, 0);
  const Real before = line(0);
  constexpr Real kLeastLength = 1e-6L;
  constexpr Real kPromised = 0.1L;
  for (Real length = 1; length > kLeastLength; length /= 2) {
    if (line(length) < before - kPromised * length * directions.decrement) {
      y += length * directions.newton;
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
  const Line line(cone, y, -path, -1);
  const auto is_inside = [&](Real fall) { return line.contains(fall); };
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
