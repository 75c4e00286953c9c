#pragma once
// A search for counterexamples starts from accumulators that are drawn from laws under which
// assumptions are known to be strained in different ways.

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "core/random/random.h"

namespace residuum {

/// P vectors of d numbers, worker by worker.
struct Accumulators {
  std::size_t workers = 1;
  std::size_t dimension = 1;
  std::vector<double> values;

  double& at(std::size_t worker, std::size_t i) { return values[worker * dimension + i]; }
};

struct StartLaw {
  std::string_view name;
  /// Fills all values.
  void (*draw)(RandomStream& random, Accumulators& accumulators);
};

std::span<const StartLaw> start_laws();

}  // namespace residuum
