#pragma once
// A compressor of somebody else's, in any language, is known here only by what it answers. These
// functions check what its user claims of it and what every compressor owes, in words like those of
// laws.h.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residuum::laws {

/// A compressor keeps one memory for each tensor: two names are two memories.
struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
};

struct CompressorAnswer {
  std::vector<float> output;    // C(x), decompressed; empty if it was refused
  std::vector<float> residual;  // what it remembers of the tensor now, empty if it does not tell
  std::optional<std::uint64_t> declared_bytes;
  std::optional<std::uint64_t> message_bytes;  // of the message itself, if it shows that
  std::string refusal;                         // why it does not take the vector
  bool ended = false;                          // it ended without an answer, as `refusal` says
};

class Compressor {
 public:
  Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  Compressor(Compressor&&) = delete;
  Compressor& operator=(Compressor&&) = delete;
  virtual ~Compressor() = default;

  virtual CompressorAnswer compress(const Tensor& tensor, std::span<const float> x) = 0;
  /// Begins anew, without memory of any former call.
  virtual void restart() = 0;
};

/// Claims are made by the user of a compressor. A law without a claim is not looked at.
struct CompressorClaims {
  std::optional<std::size_t> k;       // at most so many entries are not zero
  std::optional<double> contraction;  // E|C(x) - x|^2 <= (1 - contraction) |x|^2, from 0 to 1
  std::optional<double> omega;        // E|C(x) - x|^2 <= omega |x|^2
  bool unbiased = false;              // E C(x) = x
  bool random = false;                // answers differ from run to run
  bool has_memory = false;            // it adds what it left out of a tensor to the next vector
  double decay = 1;                   // its memory times this, before a vector is added to it
  bool finite_only = false;           // nothing is claimed of nan and inf
};

/// Returns the contraction that the claims make: the one that is given, or k/d of a biased rule
/// without an omega.
std::optional<double> contraction_of(const CompressorClaims& claims, std::size_t dimension);

/// The same cases give the same requests in every run.
struct CompressorCases {
  std::vector<std::size_t> shape{60};
  std::vector<std::size_t> lengths;  // of further tensors, for the law "lengths"
  std::size_t draws = 2000;          // of a compressor that draws at random, for an expectation
};

/// Indices of one byte end at 256 entries and those of two bytes at 65536.
inline constexpr std::array<std::size_t, 2> kUsualLengths{300, 70000};

/// Says whether a law was seen to hold; absent: it was not looked at, and the explanation says why.
struct LawFinding {
  std::string law;
  std::optional<bool> holds;
  std::string explanation;
};

/// Looks at one law after the other, each after a restart; `begins` is told its name. A compressor
/// that refuses a vector of finite numbers is a usage error.
std::vector<LawFinding> check_compressor(
    Compressor& compressor,
    const CompressorClaims& claims,
    const CompressorCases& cases = {},
    const std::function<void(std::string_view law)>& begins = {});

/// Looks at what can be seen of inputs and their outputs alone, row by row. With a memory, rows are
/// the steps of one tensor in their order.
std::vector<LawFinding> check_compressed_pairs(std::span<const std::vector<double>> inputs,
                                               std::span<const std::vector<double>> outputs,
                                               const CompressorClaims& claims);

}  // namespace residuum::laws
