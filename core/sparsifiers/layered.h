#pragma once
// With scope = "layer" a sparsifier is applied to every layer separately, with a k of its own, as
// in layer-wise training (LAGS: Shi et al., ECAI 2020) and in most training code.

#include <memory>
#include <vector>

#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// `layers` follow one another and cover the accumulator. The indices of the message are listed,
/// whatever form those of a layer have.
std::unique_ptr<Sparsifier> make_layered(std::unique_ptr<Sparsifier> inner,
                                         std::vector<Segment> layers);

}  // namespace residuum
