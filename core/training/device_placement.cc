#include "core/training/device_placement.h"

#include <algorithm>

namespace residuum {
namespace {

bool selects_there(const Method& method) {
  return method.sparsifier->on_device() != nullptr &&
         std::all_of(method.stages.begin(), method.stages.end(), [](const DensityStage& stage) {
           return stage.sparsifier->on_device() != nullptr;
         });
}

/// True if a message can be a whole accumulator.
bool sends_everything(const Method& method, std::size_t d) {
  const auto sends = [&](const Sparsifier& sparsifier) {
    const SparsifierLaw law = sparsifier.law(d, /*step_size=*/1);
    return law.pathwise && law.contraction == 1.0;
  };
  return sends(*method.sparsifier) ||
         std::any_of(method.stages.begin(), method.stages.end(), [&](const DensityStage& stage) {
           return sends(*stage.sparsifier);
         });
}

}  // namespace

std::string device_obstacle(const Training& training, const ProtocolLaw& law) {
  const Method& method = *training.method;
  const AggregatorLaw aggregator = method.aggregator->law();
  const bool exchanges_together =
      (law.synchrony == Synchrony::lockstep || law.synchrony == Synchrony::periodic) &&
      !law.is_real;
  if (training.precision != Precision::float32) {
    return "objective.precision is float64, and devices have float32";
  }
  if (!exchanges_together) {
    return "[protocol] lets workers exchange at times of their own";
  }
  if (method.feedback->on_device() == nullptr) {
    return "this [feedback] has no form for a device";
  }
  if (!selects_there(method)) {
    return "this [sparsifier] has no form for a device";
  }
  if (aggregator.approximates_sum || aggregator.completes_support) {
    return "this [aggregator] reads whole accumulators";
  }
  if (method.quantiser != nullptr && sends_everything(method, training.objective->dimension())) {
    return "[quantiser] writes whole accumulators";
  }
  return {};
}

std::uint64_t bytes_on_device(const Training& training, int workers) {
  constexpr std::uint64_t kGradients = 1;
  constexpr std::uint64_t kModels = 1;
  const std::uint64_t of_worker = training.method->feedback->vectors() + kGradients;
  return (static_cast<std::uint64_t>(workers) * of_worker + kModels) *
         training.objective->dimension() * sizeof(float);
}

}  // namespace residuum
