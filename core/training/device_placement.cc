#include "core/training/device_placement.h"

#include <algorithm>

#include "core/gradient_source.h"
#include "core/training/worker_gradient.h"

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

/// Returns how many of d entries a message can have; 0 where the data decide.
std::size_t most_selected(const Method& method, std::size_t d) {
  std::size_t most = method.sparsifier->k(d).value_or(0);
  for (const DensityStage& stage : method.stages) {
    most = std::max(most, stage.sparsifier->k(d).value_or(0));
  }
  return most;
}

/// Returns of how many parts of an accumulator entries are selected.
std::size_t parts_of(const Method& method, std::size_t d) {
  const auto parts = [&](const Sparsifier& sparsifier) {
    const DeviceSparsifier* const there = sparsifier.on_device();
    return there == nullptr ? 0 : there->parts_there({.begin = 0, .size = d});
  };
  std::size_t most = parts(*method.sparsifier);
  for (const DensityStage& stage : method.stages) {
    most = std::max(most, parts(*stage.sparsifier));
  }
  return most;
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

namespace {

/// Returns in words what has to be done to gradients on the host; empty if nothing has.
std::string work_on_gradients(const Training& training, const ProtocolLaw& law) {
  if (training.accumulation > 1) {
    return "workers.accumulate adds the parts of a batch there";
  }
  if (training.method->clip == Clip::worker) {
    return "step.clip_at is \"worker\"";
  }
  if (training.method->optimiser != nullptr) {
    return "[local] has an optimiser";
  }
  if (law.local_steps > 1) {
    return "workers take several local steps";
  }
  if (keeps_previous_gradient(training)) {
    return "probes measure how much the gradients of estimates change";
  }
  return {};
}

}  // namespace

bool takes_plain_gradients(const Training& training, const ProtocolLaw& law) {
  return work_on_gradients(training, law).empty();
}

std::string gradient_obstacle(const Training& training, const ProtocolLaw& law) {
  if (std::string work = work_on_gradients(training, law); !work.empty()) {
    return work;
  }
  if (training.plan.measure && training.plan.follows_iterate) {
    return "probes follow the dense iterate z";
  }
  return {};
}

std::string residual_obstacle(const Training& training) {
  const bool follows = training.plan.measure && training.plan.follows_iterate;
  return follows && !training.method->gap_is_mean_residual()
             ? "probes follow w - z, which is not the mean residual of this method"
             : "";
}

std::uint64_t bytes_on_device(const Training& training,
                              const ProtocolLaw& law,
                              const Device& device,
                              int workers) {
  const std::size_t d = training.objective->dimension();
  const std::uint64_t vector = d * sizeof(float);
  const bool has_gradients_there =
      training.objective->on_device() != nullptr && takes_plain_gradients(training, law);
  const GradientSource* const source = training.objective->source();
  const bool borrows = source != nullptr && source->place().kind != Place::Kind::host;
  const std::uint64_t gradients = borrows ? 0 : 1;
  const std::uint64_t of_worker =
      (training.method->feedback->vectors() + gradients) * vector +
      device.selection_bytes(d, most_selected(*training.method, d), parts_of(*training.method, d));
  return static_cast<std::uint64_t>(workers) * of_worker + (has_gradients_there ? vector : 0);
}

}  // namespace residuum
