#pragma once
// The part of a run's record that the method decides, whatever the objective is.

#include <cstddef>
#include <cstdint>

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

/// Returns the bytes of a message of `values` of the d numbers at an iteration, by the form of its
/// indices and the quantiser; a bound if layers are quantised one by one.
template <class Real>
std::size_t bytes_of_message(const Method& method,
                             std::uint64_t iteration,
                             std::size_t values,
                             std::size_t d);

}  // namespace residuum
