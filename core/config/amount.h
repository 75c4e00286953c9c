#pragma once
// An amount says how many entries are kept, as `k = 10` or as `density = 0.001`.

#include <cstddef>
#include <optional>
#include <string>

#include "core/config/section.h"

namespace residuum {

class Amount {
 public:
  /// Reads `k` or `density` of the section; exactly one of them is required.
  static Amount from(const Section& section);
  /// Reads one of them if the section has one.
  static std::optional<Amount> if_given(const Section& section);
  /// Reads one of them where it is used; elsewhere both may be given without effect.
  static std::optional<Amount> if_used(const Section& section, bool used);

  /// Returns k for vectors of length d: the given k, or max(1, floor(density * d)) as in the
  /// reference code. A k above d is a usage error.
  std::size_t resolve(std::size_t dimension) const;

 private:
  std::optional<std::size_t> k_;
  std::string where_;  // the place of the key, for messages
  double density_ = 1;
};

}  // namespace residuum
