#pragma once
// The part of a run's record that the method decides, whatever the objective is.

#include "core/record/run_facts.h"
#include "core/training/method.h"

namespace residuum {

/// Returns the record of a run of the method by `workers` workers on a model of `dimension`
/// numbers. Its fields of names, gradients, evaluations and the objective are those of a default
/// record. The threshold is absent if the step size changes.
RunFacts method_facts(const Method& method,
                      std::size_t dimension,
                      const ProtocolLaw& protocol,
                      int workers);

}  // namespace residuum
