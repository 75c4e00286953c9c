#pragma once
// The packed forms of quantisers are made of codes (core/messages/bit_codes.h) and of scales.

#include <cstddef>
#include <limits>
#include <span>

#include "core/messages/bit_codes.h"
#include "core/quantisers/quantiser.h"

namespace residuum {

/// Refuses a buffer that goes on behind the last code, or whose bits behind it are not zero.
inline void check_end(const CodeReader& reader) { check_coded(reader.is_at_end()); }

/// Reads the scale at the front of a packed form, which is finite and not negative.
template <class Real>
Real read_scale(std::span<const std::byte> source) {
  Real scale = 0;
  read_numbers(source, std::span(&scale, 1));
  check_coded(scale >= 0 && scale <= std::numeric_limits<Real>::max());
  return scale;
}

}  // namespace residuum
