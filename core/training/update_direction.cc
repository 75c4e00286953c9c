#include "core/training/update_direction.h"

#include "core/training/training.h"
#include "core/vectors/polar_factor.h"

namespace residuum {

void take_signs(const Objective& objective, std::span<double> update, std::span<double> room) {
  objective.to_parameters(update, room);
  for (double& value : room) {
    value = value > 0 ? 1 : value < 0 ? -1 : value;  // what is no number stays none
  }
  objective.from_parameters(room, update);
}

UpdateDirection::UpdateDirection(UpdateRule rule, const Objective& objective, double rounding)
    : rule_(rule),
      objective_(objective),
      rounding_(rounding),
      layers_(rule == UpdateRule::orthogonal ? matrices_of(objective) : std::vector<MatrixPlace>()),
      parameters_(rule == UpdateRule::mean ? 0 : objective.dimension()) {}

void UpdateDirection::take(std::span<double> update) {
  if (rule_ == UpdateRule::signs) {
    take_signs(objective_, update, parameters_);
    return;
  }
  objective_.to_parameters(update, parameters_);
  for (const MatrixPlace& layer : layers_) {
    take_polar_factor(layer.rows,
                      layer.columns,
                      rounding_,
                      std::span(parameters_).subspan(layer.begin, layer.rows * layer.columns),
                      room_);
  }
  objective_.from_parameters(parameters_, update);
}

}  // namespace residuum
