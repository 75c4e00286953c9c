#pragma once

#include "core/sparsifiers/sparsifier.h"
#include "experiments/console/options.h"

namespace residuum {

/// Returns the section that --sparsifier, --block and --k or --density describe.
Section sparsifier_section(const Options& options);

/// Reports a usage error for a sparsifier that keeps no fixed number of `dimension` entries, and
/// for a number above the dimension.
void check_has_k(const Options& options, const Sparsifier& sparsifier, std::size_t dimension);

}  // namespace residuum
