#pragma once
// A run as progress and messages name it, and how it ended.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/trainer/trainer.h"

namespace residuum {

/// What varies, and the seed.
std::string label_of(const nlohmann::json& varying, std::uint64_t seed);

std::string describe(const Outcome& outcome);

/// Short runs pass in silence; a long one, and one that did not finish, is worth a line.
bool is_remarkable(const Outcome& outcome);

}  // namespace residuum
