#pragma once
// A study names a program of the user's as `kind = "command"` of its [sparsifier]. The program
// speaks the frames of experiments/compressors/README.md: it gets an accumulator and answers C(a).

#include "core/config/registry.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// Returns the registry entry of the kind. Its sparsifier selects by processes: `select` of one
/// that was not `started` is a usage error. An answer that cannot be one, or that breaks what the
/// study claims of the rule, is an Error with ExitCode::runs_failed. Nothing is executed before
/// `started`.
Entry<Sparsifier> command_entry();

}  // namespace residuum
