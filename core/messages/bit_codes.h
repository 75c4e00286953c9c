#pragma once
// Codes of a few bits each are packed one after the other, the lowest bit of a byte first. The bits
// of the last byte that no code takes are zero.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace residuum {

constexpr std::size_t bytes_of_codes(std::size_t n, int bits) {
  return (n * static_cast<std::size_t>(bits) + 7) / 8;
}

/// Writes codes to a buffer that has room for them.
class CodeWriter {
 public:
  CodeWriter(std::span<std::byte> target, int bits) : target_(target), bits_(bits) {}

  void put(std::uint32_t code) {
    waiting_ |= std::uint64_t{code} << filled_;
    filled_ += bits_;
    for (; filled_ >= 8; filled_ -= 8, waiting_ >>= 8) {
      target_[at_++] = static_cast<std::byte>(waiting_);
    }
  }
  void finish() {
    if (filled_ > 0) {
      target_[at_] = static_cast<std::byte>(waiting_);
    }
  }

 private:
  std::span<std::byte> target_;
  int bits_;
  int filled_ = 0;
  std::uint64_t waiting_ = 0;
  std::size_t at_ = 0;
};

/// Reads codes from a buffer that has all of them.
class CodeReader {
 public:
  CodeReader(std::span<const std::byte> source, int bits) : source_(source), bits_(bits) {}

  std::uint32_t get() {
    for (; held_ < bits_; held_ += 8) {
      waiting_ |= std::to_integer<std::uint64_t>(source_[at_++]) << held_;
    }
    const auto code = static_cast<std::uint32_t>(waiting_ & ((std::uint64_t{1} << bits_) - 1));
    waiting_ >>= bits_;
    held_ -= bits_;
    return code;
  }
  /// True if all bytes are read, and the bits behind the last code are zero.
  bool is_at_end() const { return waiting_ == 0 && at_ == source_.size(); }

 private:
  std::span<const std::byte> source_;
  int bits_;
  int held_ = 0;
  std::uint64_t waiting_ = 0;
  std::size_t at_ = 0;
};

/// Copies numbers to the front of a buffer that has room for them.
template <class Number>
void write_numbers(std::span<const Number> numbers, std::span<std::byte> target) {
  if (!numbers.empty()) {
    std::memcpy(target.data(), numbers.data(), numbers.size_bytes());
  }
}

/// Copies numbers from the front of a buffer that has all of them.
template <class Number>
void read_numbers(std::span<const std::byte> source, std::span<Number> numbers) {
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), source.data(), numbers.size_bytes());
  }
}

}  // namespace residuum
