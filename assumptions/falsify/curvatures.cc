#include "assumptions/falsify/curvatures.h"

#include <Eigen/Core>
#include <Eigen/Jacobi>

#include <algorithm>
#include <cmath>

namespace residuum {

std::size_t numbers_of_curvature(std::size_t dimension) { return dimension * (dimension + 1) / 2; }

void set_curvature(std::span<const double> numbers,
                   double least,
                   std::size_t dimension,
                   std::span<double> entries) {
  const auto d = static_cast<Eigen::Index>(dimension);
  Eigen::Map<Eigen::MatrixXd> matrix(entries.data(), d, d);
  matrix.setZero();
  for (Eigen::Index i = 0; i < d; ++i) {
    const double place = std::clamp(numbers[static_cast<std::size_t>(i)], -1.0, 1.0);
    matrix(i, i) = least + (1 - least) * (1 + place) / 2;
  }
  auto angle = static_cast<std::size_t>(d);
  for (Eigen::Index i = 0; i < d; ++i) {
    for (Eigen::Index j = 0; j < i; ++j) {
      const Eigen::JacobiRotation<double> rotation(std::cos(numbers[angle]),
                                                   std::sin(numbers[angle]));
      matrix.applyOnTheLeft(i, j, rotation);
      matrix.applyOnTheRight(i, j, rotation.transpose());
      ++angle;
    }
  }
  matrix = (0.5 * (matrix + matrix.transpose())).eval();  // symmetric to the last bit
}

}  // namespace residuum
