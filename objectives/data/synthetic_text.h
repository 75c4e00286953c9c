#pragma once
// This text is made from a seed. Its entropy is known, and no model's loss can be below it.

#include <cstddef>
#include <cstdint>

#include "objectives/data/synthetic.h"
#include "objectives/data/text.h"

namespace residuum {

/// The text is a Markov chain on 16 letters: with probability `order` the next letter is the
/// successor in the alphabet ('a' after the last), else any of them, all alike. Every letter is
/// equally frequent.
struct MarkovModel {
  std::size_t characters = 0;
  std::uint64_t seed = 1;
  double order = 0.5;  ///< In [0, 1].
  Part part = Part::training;
};

std::string make_markov_text(const MarkovModel& model);

/// Returns the entropy per character of the chain, in nats: -s ln s - 15 u ln u with u = (1 -
/// order)/16, the probability of a letter that is no successor, and s = order + u.
double markov_entropy(double order);

}  // namespace residuum
