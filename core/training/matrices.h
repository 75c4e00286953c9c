#pragma once

#include <vector>

#include "core/messages/matrix_place.h"
#include "core/objective.h"

namespace residuum {

/// Returns the layers as matrices with a row for each output, as low-rank methods take them.
std::vector<MatrixPlace> matrices_of(const Objective& objective);

}  // namespace residuum
