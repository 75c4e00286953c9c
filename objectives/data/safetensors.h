#pragma once
// .safetensors is how PyTorch models are exchanged: a number of 8 bytes, that many bytes of JSON
// that name each tensor with its type, shape and place, and the numbers
// (github.com/huggingface/safetensors).

#include <string>
#include <string_view>
#include <vector>

namespace residuum {

/// Returns the numbers of all tensors of the file, in the order in which they lie there. Types are
/// F16, BF16, F32 and F64. Anything that is no such file is a usage error that names it: a head
/// beyond the file, another type, places that overlap, leave a hole or do not fit the shape.
std::vector<double> read_safetensors(std::string_view bytes, const std::string& name);

}  // namespace residuum
