#pragma once
// A divergence says where and why a training cannot go on: numbers are no longer finite, or a loss
// is above the user's bound. One process finds it, and all processes report it in the same words.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "core/messages/exchange_result.h"
#include "core/objective.h"

namespace residuum {

/// Entries of float64 models beyond this are not usable.
inline constexpr double kLargestEntry = 1e149;

struct Divergence {
  enum class Of : std::int32_t {
    gradient,          // an entry of a worker's gradient is not finite
    accumulator,       // an entry of a worker's accumulator is not finite
    gradient_norm,     // all entries are finite, but not the sum of their squares
    accumulator_norm,  // the same for an accumulator
    sum,               // an entry of the sum of the messages is not, though those of each are
    model,             // an entry of the model is not usable
    loss,              // an evaluated loss is not finite or above the bound
  };

  Of of = Of::gradient;
  std::uint64_t iteration = 0;
  std::int32_t worker = -1;  // the worker, or -1
  std::uint64_t entry = 0;   // in the flat vector: the first that is not finite, or the largest
  double value = 0;          // the value of that entry, or the loss
  double bound = 0;          // the bound of the loss, if there is one
};

/// Returns the name that status.json uses for what has diverged.
const char* name_of(Divergence::Of of);

/// EntryPlace is the layer that an entry of the flat vector belongs to, and the entry's number in
/// it.
struct EntryPlace {
  std::string layer;
  std::size_t index = 0;
};
/// Returns the place of the entry that has diverged; absent for a loss.
std::optional<EntryPlace> place_of(const Divergence& divergence, const Objective& objective);

/// Returns a message such as "gradient of worker 1 is not finite at iteration 3: entry 0 of layer
/// 'conv1.weight' is nan".
std::string message_of(const Divergence& divergence, const Objective& objective);

/// Returns "nan", "inf", "-inf", or the number.
std::string in_words(double value);

/// An entry of an exchanged sum that is not finite.
struct LostSum {
  std::size_t entry = 0;  // in the flat vector
  double value = 0;
};

/// Returns the first such entry of g.
template <class Real>
std::optional<LostSum> lost_sum(const ExchangeResult<Real>& exchanged);

/// Finds the fault of a worker that has a norm which is not finite; the caller adds the worker's
/// number.
template <class Real>
Divergence broken_worker(std::span<const Real> gradient,
                         std::span<const Real> accumulator,
                         double gradient_norm_sq);

/// True if a model's entry, as gradients see it, is finite and so small that the sum of 2^32 such
/// squares is finite in float64: norms and distances of usable models are then finite.
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

/// Finds the first entry that is not usable, in a model that has one.
template <class Real>
Divergence broken_model(std::span<const Real> model);

}  // namespace residuum
