#pragma once

#include "core/config/section.h"
#include "experiments/console/options.h"

namespace residuum {

/// Returns the section that --quantiser and --bits describe.
Section quantiser_section(const Options& options);

}  // namespace residuum
