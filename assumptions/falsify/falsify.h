#pragma once
// This search looks for a counterexample: accumulators on which one step of a method violates an
// assumption as much as can be found. It restarts at random from several laws and refines each
// start along the coordinates and, in few dimensions, by Nelder and Mead's simplex. It searches the
// sphere on which the squares of all P d entries add up to P.

#include <cstdint>
#include <string_view>
#include <vector>

#include "assumptions/falsify/target.h"
#include "core/trainer/trainer.h"

namespace residuum {

struct Search {
  int workers = 2;
  std::size_t dimension = 2;
  std::size_t rows = 1;  // of the matrix that an accumulator is; they divide the dimension
  std::uint64_t seed = 1;
  std::uint64_t evaluations = 20000;  // steps of the method that may be looked at
};

struct Worst {
  double value = 0;                  // of the target's column
  std::vector<double> accumulators;  // P x d, worker by worker
  std::string_view start;            // the law that its search started from
  bool violated = false;
  std::uint64_t evaluations = 0;
  std::uint64_t restarts = 0;
};

/// Returns the worst accumulators that it finds; the same arguments find the same ones. Vectors
/// whose workers cancel to less than a millionth of their size are skipped, because ratios to their
/// mean tell about rounding and not about the method. It is a usage error if no vector is left.
Worst falsify(const Method& method, const Target& target, const Search& search);

}  // namespace residuum
