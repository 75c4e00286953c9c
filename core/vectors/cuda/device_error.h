#pragma once
// How a .cu file throws: nvcc cannot compile fmt, which core/error.h includes.

namespace residuum::cuda {

/// Throws a resource error: the call that failed and CUDA's own words for it.
[[noreturn]] void device_error(const char* call, const char* reason);

}  // namespace residuum::cuda
