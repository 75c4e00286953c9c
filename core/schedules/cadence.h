#pragma once
// A cadence says at which iterations something is done: every N-th, ever more rarely, or so that no
// iteration stands for many. The last iteration always belongs to it.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"

namespace residuum {

class Cadence {
 public:
  /// `value` is one of
  ///   N                        a whole number N >= 1: every N-th iteration from 0 on
  ///   {"geometric": F}         F > 1: t is followed by ceil(F t), by t + 1 at least
  ///   {"even": N}              N >= 1: t is followed by t + min(max(1, ceil(t/10)), G), where G =
  ///                            max(1, floor(T/N)) of a run of T iterations
  /// The last kind begins densely, as {"geometric": 1.1} does, until its gaps are G: N rows and
  /// those of the start. A row that stands for the iterations up to the next one then stands for
  /// at most T/N of them: an average over the run that is taken so is off by at most V/N, V being
  /// the sum of the changes of what is averaged from iteration to iteration. From N = T on it is
  /// every iteration. At most ten million iterations are listed. `where` names the key in messages.
  Cadence(const nlohmann::json& value, const std::string& where, std::uint64_t iterations);

  bool due(std::uint64_t iteration) const;

 private:
  void list_geometric(double factor, const std::string& where, std::uint64_t iterations);
  void list_even(std::uint64_t rows, const std::string& where, std::uint64_t iterations);

  std::uint64_t every_ = 0;  // 0: the listed iterations
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> listed_;
};

/// True if the cadence exists and is due; an absent cadence is never due.
inline bool is_due(const std::optional<Cadence>& cadence, std::uint64_t iteration) {
  return cadence && cadence->due(iteration);
}

}  // namespace residuum
