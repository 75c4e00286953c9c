#pragma once
// This file reads [network], the links of virtual time.

#include "core/cluster/link_model.h"
#include "core/config/section.h"

namespace residuum {

/// Reads `model`: "none" (default: letters take no time), a named network, or a table {alpha_s,
/// beta_s_per_byte}. "1gbe" is what Shi et al. (ICDCS 2019) fitted on Gigabit Ethernet: 0.436 ms
/// and 36 ns for each word of 4 bytes.
LinkModel read_link_model(const Section& section);

}  // namespace residuum
