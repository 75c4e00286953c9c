#pragma once
// A link model is what virtual clocks assume of the links between nodes: a message of n bytes takes
// alpha + beta n seconds, of which it keeps the link at either end busy for beta n.

#include <string>

#include "core/config/section.h"

namespace residuum {

struct LinkModel {
  double alpha_s = 0;
  double beta_s_per_byte = 0;

  bool operator==(const LinkModel&) const = default;
};

/// Reads `model`: "none" (default: letters take no time), a named network, or a table {alpha_s,
/// beta_s_per_byte}. "1gbe" is what Shi et al. (ICDCS 2019) fitted on Gigabit Ethernet: 0.436 ms
/// and 36 ns for each word of 4 bytes.
LinkModel read_link_model(const Section& section);

}  // namespace residuum
