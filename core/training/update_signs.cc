#include "core/training/update_signs.h"

namespace residuum {

void take_signs(const Objective& objective, std::span<double> update, std::span<double> room) {
  objective.to_parameters(update, room);
  for (double& value : room) {
    value = value > 0 ? 1 : value < 0 ? -1 : value;  // what is no number stays none
  }
  objective.from_parameters(room, update);
}

}  // namespace residuum
