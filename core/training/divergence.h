#pragma once
// Where and why a training cannot go on: numbers that are no longer finite, or a loss above the
// bound that the user has set. Found by one process, known to all of them in the same words.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "core/objective.h"

namespace residuum {

/// Of models in float64.
inline constexpr double kLargestEntry = 1e149;

struct Divergence {
  enum class Of : std::int32_t {
    gradient,          // an entry of a worker's gradient is not finite
    accumulator,       // or of its accumulator
    gradient_norm,     // all entries are, the sum of their squares is not
    accumulator_norm,  // likewise
    model,             // an entry of the model is not usable
    loss,              // an evaluated loss is not finite or above the bound
  };

  Of of = Of::gradient;
  std::uint64_t iteration = 0;
  std::int32_t worker = -1;  // where it is a worker's
  std::uint64_t entry = 0;   // of the flat vector: the first that is not finite, or the largest
  double value = 0;          // of that entry, or the loss
  double bound = 0;          // of the loss, if there is one
};

/// What has diverged, as status.json names it.
const char* name_of(Divergence::Of of);

/// The layer that an entry of the flat vector belongs to, and which of the layer's entries it is.
struct EntryPlace {
  std::string layer;
  std::size_t index = 0;
};
/// Of what has diverged; absent for a loss.
std::optional<EntryPlace> place_of(const Divergence& divergence, const Objective& objective);

/// "gradient of worker 1 is not finite at iteration 3: entry 0 of layer 'conv1.weight' is nan".
std::string message_of(const Divergence& divergence, const Objective& objective);

/// "nan", "inf", "-inf", or the number.
std::string in_words(double value);

/// What is wrong with a worker one of whose norms is not finite; the caller adds which worker.
template <class Real>
Divergence broken_worker(std::span<const Real> gradient,
                         std::span<const Real> accumulator,
                         double gradient_norm_sq);

/// Whether a model's entry, as gradients see it, is finite and small enough that 2^32 of its
/// squares add up to a double: norms and distances of usable models are numbers.
template <class Real>
bool is_usable(Real entry) {
  if constexpr (std::is_same_v<Real, double>) {
    return std::abs(entry) <= kLargestEntry;
  }
  return std::isfinite(entry);
}

template <class Real>
bool is_usable_model(std::span<const Real> model) {
  return std::all_of(model.begin(), model.end(), is_usable<Real>);
}

/// The first entry that is not usable, of a model that has one.
template <class Real>
Divergence broken_model(std::span<const Real> model);

}  // namespace residuum
