#pragma once
// Random sparsifiers share how they draw: from which stream, and how a subset comes of it.

#include <cstddef>

#include "core/random/random.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// Returns the stream of the context's iteration: one for all workers, or the worker's own.
RandomStream selection_stream(const SelectionContext& context, bool shared);

/// workspace.subset := a uniformly random k-subset of {0, ..., n-1}, increasing (Floyd; Bentley,
/// CACM 1987).
void draw_subset(std::size_t n, std::size_t k, RandomStream& random, SelectWorkspace& workspace);

}  // namespace residuum
