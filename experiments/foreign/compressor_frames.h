#pragma once
// The language of `residuum check` with a compressor, as experiments/compressors/README.md has it.
// A request is one line of JSON and an .npy array, an answer an optional line of JSON and one to
// three .npy arrays.

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assumptions/testing/compressor_laws.h"

namespace residuum {

std::string compressor_request(const laws::Tensor& tensor, std::span<const float> x);

struct ParsedAnswer {
  laws::CompressorAnswer answer;
  std::size_t size = 0;  // bytes it has
};

/// Reads the answer at the front of `bytes` to a request with an array of this shape; absent while
/// it is not complete. Bytes that cannot become one are a usage error.
std::optional<ParsedAnswer> parse_answer(std::string_view bytes,
                                         std::span<const std::size_t> shape);

}  // namespace residuum
