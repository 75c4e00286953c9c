#pragma once
// .safetensors is how PyTorch models are exchanged: a number of 8 bytes, that many bytes of JSON
// that name each tensor with its type, shape and place, and the numbers
// (github.com/huggingface/safetensors).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {

struct NamedTensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::vector<double> numbers;  // row after row
};

/// Returns the tensors of the file, in the order in which they lie there. Types are F16, BF16, F32
/// and F64. Anything that is no such file is a usage error that names it: a head
/// beyond the file, another type, places that overlap, leave a hole or do not fit the shape.
std::vector<NamedTensor> read_safetensors(std::string_view bytes, const std::string& name);

}  // namespace residuum
