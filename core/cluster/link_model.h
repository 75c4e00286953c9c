#pragma once
// A link model is what virtual clocks assume of the links between nodes: a message of n bytes takes
// alpha + beta n seconds, of which it keeps the link at either end busy for beta n.

namespace residuum {

struct LinkModel {
  double alpha_s = 0;
  double beta_s_per_byte = 0;

  bool operator==(const LinkModel&) const = default;
};

}  // namespace residuum
