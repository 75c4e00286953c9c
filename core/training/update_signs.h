#pragma once

#include <span>

#include "core/objective.h"

namespace residuum {

/// update := T s(T' update), where s takes the sign of every entry (0 of a zero, NaN of a NaN) and
/// T turns the objective's parameters into w: the signs are those of the parameters, in which
/// signSGD is defined (Bernstein, Wang, Azizzadenesheli, Anandkumar, ICML 2018). `room` has as many
/// numbers.
void take_signs(const Objective& objective, std::span<double> update, std::span<double> room);

}  // namespace residuum
