#pragma once
// Sections of a study as options of a command line describe them.

#include "core/config/section.h"
#include "core/sparsifiers/sparsifier.h"
#include "core/training/method.h"
#include "experiments/program/console/options.h"

namespace residuum {

/// Returns the kind of quantiser that is asked for.
std::string quantiser_kind(const Options& options);

/// Names the quantiser and its bits in what is printed, where they are given.
void add_quantiser_names(const Options& options, nlohmann::ordered_json& json);

/// Returns the section that --quantiser and --bits describe: none where the aggregator quantises
/// its own messages, whose section then has them.
Section quantiser_section(const Options& options);

/// Returns the section that --sparsifier, --block and --k or --density describe.
Section sparsifier_section(const Options& options);

/// Reports a usage error for a sparsifier that keeps no fixed number of `dimension` entries, and
/// for a number above the dimension.
void check_has_k(const Options& options, const Sparsifier& sparsifier, std::size_t dimension);

/// Returns the section that --aggregator and --rank describe, with --quantiser and --bits where the
/// aggregator quantises its own messages.
Section aggregator_section(const Options& options);

/// True for an aggregator that approximates accumulators as matrices, of which no entries are sent.
bool is_of_low_rank(const Options& options);

/// Returns the section of a sparsifier that keeps everything, and refuses options that choose one.
Section everything_section(const Options& options);

/// Returns the rows of an accumulator that is a matrix, 1 if it is none.
std::size_t rows_of(const Options& options,
                    const Method& method,
                    std::size_t workers,
                    std::size_t dimension);

}  // namespace residuum
