#pragma once

#include "core/training/method.h"
#include "experiments/console/options.h"

namespace residuum {

/// Returns the section that --aggregator and --rank describe.
Section aggregator_section(const Options& options);

/// True for an aggregator that approximates accumulators as matrices, of which no entries are sent.
bool is_of_low_rank(const Options& options);

/// Returns the section of a sparsifier that keeps everything, and refuses options that choose one.
Section everything_section(const Options& options);

/// Returns the rows of the matrix that an accumulator of so many entries is, 1 where it is none.
std::size_t rows_of(const Options& options,
                    const Method& method,
                    std::size_t workers,
                    std::size_t dimension);

}  // namespace residuum
