#pragma once
// The laws of components in words, as `residuum list` tells them: what theorems, verdicts and
// predictions may rely on. They are asked of the component that its example builds.

#include <string>
#include <vector>

#include "core/aggregators/aggregator.h"
#include "core/feedback/feedback.h"
#include "core/optimisers/optimiser.h"
#include "core/protocols/protocol.h"
#include "core/quantisers/quantiser.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// Each returns sentences without a full stop, for vectors of 1000 numbers and for 8 workers.
std::vector<std::string> law_of(const Entry<Sparsifier>& entry);
std::vector<std::string> law_of(const Entry<Quantiser>& entry);
std::vector<std::string> law_of(const Entry<Aggregator>& entry);
std::vector<std::string> law_of(const Entry<Feedback>& entry);
std::vector<std::string> law_of(const Entry<Optimiser>& entry);
std::vector<std::string> law_of(const Entry<Protocol>& entry);

}  // namespace residuum
