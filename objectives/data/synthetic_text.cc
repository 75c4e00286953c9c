#include "objectives/data/synthetic_text.h"

#include <cmath>

#include "core/error.h"
#include "core/random/random.h"

namespace residuum {
namespace {

constexpr std::uint32_t kLetters = 16;

/// Returns p ln p, and 0 at p = 0.
double p_log_p(double p) { return p > 0 ? p * std::log(p) : 0; }

}  // namespace

std::string make_markov_text(const MarkovModel& model) {
  require(model.order >= 0 && model.order <= 1,
          "synthetic text: order must lie in [0, 1], got {}",
          model.order);
  RandomStream random(model.seed, Purpose::synthetic, static_cast<std::uint32_t>(model.part), 0);
  std::string text;
  text.reserve(model.characters);
  std::uint32_t letter = random.below(kLetters);
  while (text.size() < model.characters) {
    text += static_cast<char>('a' + letter);
    letter = random.uniform() < model.order ? (letter + 1) % kLetters : random.below(kLetters);
  }
  return text;
}

double markov_entropy(double order) {
  const double other = (1 - order) / kLetters;
  return -p_log_p(order + other) - (kLetters - 1) * p_log_p(other);
}

}  // namespace residuum
