#pragma once
// At which iterations something is done: every N-th, or ever more rarely, and always at the last.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/error.h"

namespace residuum {

class Cadence {
 public:
  /// `value`: a whole number N >= 1, or {"geometric": factor > 1} for 0, 1, 2, ... with gaps that
  /// grow by the factor, ten million at most. `where` names the key in messages.
  Cadence(const nlohmann::json& value, const std::string& where, std::uint64_t iterations);

  bool due(std::uint64_t iteration) const;
  bool every_iteration() const { return every_ == 1; }

 private:
  std::uint64_t every_ = 0;  // 0: the listed iterations
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> listed_;
};

}  // namespace residuum
