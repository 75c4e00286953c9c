#pragma once

#include <cstddef>

namespace residuum {

/// A matrix is a part of the accumulator with rows * columns numbers, row after row.
struct MatrixPlace {
  std::size_t begin = 0;
  std::size_t rows = 0;
  std::size_t columns = 1;
};

}  // namespace residuum
