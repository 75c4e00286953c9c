#pragma once
// This search looks for a counterexample: accumulators on which one step of a method violates an
// assumption as much as can be found. It restarts at random from several laws and refines each
// start along the coordinates and, in few dimensions, by Nelder and Mead's simplex. It searches the
// sphere on which the squares of all P d entries add up to P.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/random/random.h"
#include "core/record/record.h"
#include "core/trainer/trainer.h"

namespace residuum {

/// A target of the search for counterexamples is an assumption that a proof makes of one
/// aggregation step, as a number that the assumption bounds.
struct Target {
  std::string_view name;
  std::string_view assumption;  // in words, with its bound
  std::string_view probe;       // that measures it
  Column column;                // where the number stands
  double bound = 0;
  bool bound_is_allowed = true;  // the assumption is number <= bound, otherwise number < bound
  bool is_expected = true;       // it is one on an expectation, not on every draw
  bool needs_random_selection = false;  // it compares with k random entries, of more than k

  /// True if `value` is above the bound by more than sums of `dimension` terms can be off.
  bool is_violated_by(double value, std::size_t dimension) const;
};

/// The targets are delta, conservation and contraction.
std::span<const Target> targets();

/// A name that is none of them is a usage error with the nearest.
const Target& target_named(const std::string& name);

/// P vectors of d numbers, worker by worker.
struct Accumulators {
  std::size_t workers = 1;
  std::size_t dimension = 1;
  std::vector<double> values;

  double& at(std::size_t worker, std::size_t i) { return values[worker * dimension + i]; }
};

/// A search starts from accumulators that are drawn from laws under which assumptions are known to
/// be strained in different ways.
struct StartLaw {
  std::string_view name;
  /// Fills all values.
  void (*draw)(RandomStream& random, Accumulators& accumulators);
};

std::span<const StartLaw> start_laws();

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
