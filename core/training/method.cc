#include "core/training/method.h"

namespace residuum {

const Sparsifier& Method::sparsifier_at(std::uint64_t iteration) const {
  for (const auto& stage : stages) {
    if (iteration < stage.until) {
      return *stage.sparsifier;
    }
  }
  return *sparsifier;
}

bool Method::follows_gradients() const {
  return momentum == 0 && weight_decay == 0 && clip != Clip::update && outer_step == 1 &&
         !feedback->has_velocity();
}

double Method::gain() const { return outer_step * feedback->gain() / (1 - momentum); }

double Method::effective_decay() const { return weight_decay / (outer_step * feedback->gain()); }

}  // namespace residuum
