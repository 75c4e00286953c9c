#pragma once
// FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923): tells data, configurations and tables apart. It
// notices what a disk or a careless hand has changed, and is no signature.

#include <cstdint>
#include <string>
#include <string_view>

namespace residuum {

class Fnv1a {
 public:
  void add(std::uint8_t byte) { state_ = (state_ ^ byte) * 0x00000100000001b3; }
  void add(std::string_view bytes) {
    for (const char c : bytes) {
      add(static_cast<std::uint8_t>(c));
    }
  }
  std::uint64_t value() const { return state_; }
  /// 12 hexadecimal digits of the value.
  std::string short_text() const;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

/// Returns these 12 digits for a text.
std::string short_hash(std::string_view text);

}  // namespace residuum
