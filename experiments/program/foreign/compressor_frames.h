#pragma once
// The language that the program speaks with a compressor, as
// experiments/studies/compressors/README.md has it. A request is one line of JSON and an .npy
// array, an answer an optional line of JSON and one to three .npy arrays.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/testing/compressor_laws.h"
#include "core/config/registry.h"
#include "core/sparsifiers/sparsifier.h"

namespace residuum {

/// bytes := the request for C(x), with the seed of what the compressor draws. Seeds are below 2^53,
/// which JSON readers of all languages take as they are.
void compressor_request(const laws::Tensor& tensor,
                        std::uint64_t seed,
                        std::span<const float> x,
                        std::string& bytes);

/// Makes such a seed of 64 random bits.
constexpr std::uint64_t frame_seed(std::uint64_t bits) { return bits >> 11U; }

/// Views the parts of an answer in its bytes.
struct AnswerView {
  std::optional<std::uint64_t> declared_bytes;
  std::optional<std::uint64_t> message_bytes;
  std::string refusal;        // why the vector is not taken; then there are no arrays
  std::string_view output;    // float32, not aligned
  std::string_view residual;  // the same; empty where it is not told
  std::size_t size = 0;       // bytes of the whole answer
};

/// Views the answer at the front of `bytes` to a request with an array of this shape; absent while
/// it is not complete. Bytes that cannot become one are a usage error.
std::optional<AnswerView> view_answer(std::string_view bytes, std::span<const std::size_t> shape);

struct ParsedAnswer {
  laws::CompressorAnswer answer;
  std::size_t size = 0;  // bytes it has
};

/// Reads what view_answer() views.
std::optional<ParsedAnswer> parse_answer(std::string_view bytes,
                                         std::span<const std::size_t> shape);

// A study names a program of the user's as `kind = "command"` of its [sparsifier]. The program
// speaks the frames of experiments/studies/compressors/README.md: it gets an accumulator and
// answers C(a).

/// Returns the registry entry of the kind. Its sparsifier selects by processes: `select` of one
/// that was not `started` is a usage error. An answer that cannot be one, or that breaks what the
/// study claims of the rule, is an Error with ExitCode::runs_failed. Nothing is executed before
/// `started`.
Entry<Sparsifier> command_entry();

}  // namespace residuum
