#pragma once
// How a .cu file throws: nvcc cannot compile fmt, which core/error.h includes.

#include <cstddef>

namespace residuum::cuda {

/// Throws a resource error: the call that failed and CUDA's own words for it.
[[noreturn]] void device_error(const char* call, const char* reason);

/// Throws a resource error: how many bytes were asked for, and how many there are.
[[noreturn]] void no_room(std::size_t wanted, std::size_t free, std::size_t total);

}  // namespace residuum::cuda
