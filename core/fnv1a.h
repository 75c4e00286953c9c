#pragma once
// FNV-1a with 64 bits (Fowler, Noll, Vo; RFC 9923) tells data, configurations and tables apart. It
// detects accidental changes; it is no protection against deliberate ones.

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
  /// Returns 12 hexadecimal digits of the value, mixed so that every bit counts.
  std::string short_text() const;

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

/// Returns the 12 digits of short_text() for a text.
std::string short_hash(std::string_view text);

}  // namespace residuum
