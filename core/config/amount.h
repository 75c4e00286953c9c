#pragma once
// How many entries are kept: written as `k = 10` or as `density = 0.001`.

#include <cstddef>
#include <optional>
#include <string>

#include "core/config/section.h"

namespace residuum {

class Amount {
 public:
  /// Reads `k` or `density` of the section; exactly one of them is required.
  static Amount from(const Section& section);

  /// k for vectors of length d: k itself, or max(1, floor(density * d)) as the reference code has
  /// it. A k above d is a usage error.
  std::size_t resolve(std::size_t dimension) const;

 private:
  std::optional<std::size_t> k_;
  std::string where_;  // of k, for messages
  double density_ = 1;
};

}  // namespace residuum
