#include "core/training/divergence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace residuum {
namespace {

template <class Real>
std::optional<std::size_t> first_not_finite(std::span<const Real> vector) {
  const auto found =
      std::find_if(vector.begin(), vector.end(), [](Real value) { return !std::isfinite(value); });
  if (found == vector.end()) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(found - vector.begin());
}

/// Returns the first of the largest entries.
template <class Real>
std::size_t largest(std::span<const Real> vector) {
  const auto found = std::max_element(
      vector.begin(), vector.end(), [](Real a, Real b) { return std::abs(a) < std::abs(b); });
  return static_cast<std::size_t>(found - vector.begin());
}

template <class Real>
Divergence at_entry(Divergence::Of of, std::span<const Real> vector, std::size_t entry) {
  return {.of = of, .entry = entry, .value = static_cast<double>(vector[entry])};
}

std::string loss_message(const Divergence& divergence) {
  if (!std::isfinite(divergence.value)) {
    return fmt::format(
        "loss {} at iteration {} is not finite", in_words(divergence.value), divergence.iteration);
  }
  return fmt::format("loss {:.6g} at iteration {} is above the bound {:.6g}",
                     divergence.value,
                     divergence.iteration,
                     divergence.bound);
}

/// Names the entry, and its layer if the objective has more than one.
std::string entry_in_words(const Divergence& divergence, const Objective& objective) {
  const auto place = place_of(divergence, objective);
  const bool has_parts = place && objective.layers().size() > 1;
  return fmt::format("entry {}{} is {}",
                     place ? place->index : divergence.entry,
                     has_parts ? fmt::format(" of layer '{}'", place->layer) : "",
                     in_words(divergence.value));
}

}  // namespace

const char* name_of(Divergence::Of of) {
  switch (of) {
    case Divergence::Of::gradient:
      return "gradient";
    case Divergence::Of::accumulator:
      return "accumulator";
    case Divergence::Of::gradient_norm:
      return "gradient_norm";
    case Divergence::Of::accumulator_norm:
      return "accumulator_norm";
    case Divergence::Of::sum:
      return "sum";
    case Divergence::Of::model:
      return "model";
    case Divergence::Of::loss:
      return "loss";
  }
  return "";
}

std::optional<EntryPlace> place_of(const Divergence& divergence, const Objective& objective) {
  if (divergence.of == Divergence::Of::loss) {
    return std::nullopt;
  }
  for (const Layer& layer : objective.layers()) {
    if (divergence.entry >= layer.offset && divergence.entry < layer.offset + layer.size) {
      return EntryPlace{.layer = layer.name, .index = divergence.entry - layer.offset};
    }
  }
  return std::nullopt;
}

std::string message_of(const Divergence& divergence, const Objective& objective) {
  const std::uint64_t t = divergence.iteration;
  switch (divergence.of) {
    case Divergence::Of::gradient:
      return fmt::format("gradient of worker {} is not finite at iteration {}: {}",
                         divergence.worker,
                         t,
                         entry_in_words(divergence, objective));
    case Divergence::Of::accumulator:
      return fmt::format("accumulator of worker {} is not finite at iteration {}: {}",
                         divergence.worker,
                         t,
                         entry_in_words(divergence, objective));
    case Divergence::Of::gradient_norm:
      return fmt::format(
          "gradient of worker {} has a squared norm beyond the largest double at iteration {}: {}",
          divergence.worker,
          t,
          entry_in_words(divergence, objective));
    case Divergence::Of::accumulator_norm:
      return fmt::format(
          "accumulator of worker {} has a squared norm beyond the largest double at iteration {}: "
          "{}",
          divergence.worker,
          t,
          entry_in_words(divergence, objective));
    case Divergence::Of::sum:
      return fmt::format(
          "sum of the workers' messages overflows objective.precision at iteration {}: {}",
          t,
          entry_in_words(divergence, objective));
    case Divergence::Of::model:
      return fmt::format(
          "model is {} at iteration {}: {}",
          std::isfinite(divergence.value) ? "too large to be measured" : "not finite",
          t,
          entry_in_words(divergence, objective));
    case Divergence::Of::loss:
      return loss_message(divergence);
  }
  return "";
}

std::string in_words(double value) {
  if (std::isnan(value)) {
    return "nan";  // without a sign
  }
  return fmt::format("{:.6g}", value);
}

template <class Real>
Divergence broken_worker(std::span<const Real> gradient,
                         std::span<const Real> accumulator,
                         double gradient_norm_sq) {
  using Of = Divergence::Of;
  if (const auto entry = first_not_finite(gradient)) {
    return at_entry(Of::gradient, gradient, *entry);
  }
  if (const auto entry = first_not_finite(accumulator)) {
    return at_entry(Of::accumulator, accumulator, *entry);
  }
  return std::isfinite(gradient_norm_sq)
             ? at_entry(Of::accumulator_norm, accumulator, largest(accumulator))
             : at_entry(Of::gradient_norm, gradient, largest(gradient));
}

template <class Real>
std::optional<LostSum> lost_sum(const ExchangeResult<Real>& exchanged) {
  const std::span<const Real> values = exchanged.is_dense
                                           ? std::span<const Real>(exchanged.dense_sum)
                                           : std::span<const Real>(exchanged.sum.values);
  const auto place = first_not_finite(values);
  if (!place) {
    return std::nullopt;
  }
  return LostSum{.entry = exchanged.is_dense ? *place : exchanged.sum.indices[*place],
                 .value = static_cast<double>(values[*place])};
}

template <class Real>
Divergence broken_model(std::span<const Real> model) {
  const auto found = std::find_if_not(model.begin(), model.end(), is_usable<Real>);
  const auto entry = found == model.end() ? 0 : static_cast<std::size_t>(found - model.begin());
  return at_entry(Divergence::Of::model, model, entry);
}

template Divergence broken_worker(std::span<const float>, std::span<const float>, double);
template Divergence broken_worker(std::span<const double>, std::span<const double>, double);
template std::optional<LostSum> lost_sum(const ExchangeResult<float>&);
template std::optional<LostSum> lost_sum(const ExchangeResult<double>&);
template Divergence broken_model(std::span<const float>);
template Divergence broken_model(std::span<const double>);

}  // namespace residuum
