#pragma once
// These words name a run in progress and messages, and say how it ended.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/trainer/trainer.h"

namespace residuum {

/// Returns what varies, and the seed.
std::string label_of(const nlohmann::json& varying, std::uint64_t seed);

std::string describe(const Outcome& outcome);

/// Returns whether the run is worth a line: one that was long or did not finish; short ones pass in
/// silence.
bool is_remarkable(const Outcome& outcome);

}  // namespace residuum
