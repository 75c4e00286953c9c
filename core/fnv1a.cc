#include "core/fnv1a.h"

#include <fmt/format.h>

namespace residuum {

std::string Fnv1a::short_text() const {
  // The finaliser of MurmurHash3 spreads every bit over the digits that are kept.
  std::uint64_t hash = (state_ ^ (state_ >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return fmt::format("{:016x}", hash ^ (hash >> 33)).substr(4);
}

std::string short_hash(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return hash.short_text();
}

}  // namespace residuum
