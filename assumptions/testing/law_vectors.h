#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace residuum::laws {

struct NamedVector {
  std::string name;
  std::vector<double> values;
};

/// Accumulators that strain different rules: energy spread evenly, on one entry, in a tail.
std::vector<NamedVector> accumulators(std::size_t d);

}  // namespace residuum::laws
