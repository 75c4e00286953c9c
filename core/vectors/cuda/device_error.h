#pragma once
// A .cu file throws by these functions, because nvcc cannot compile fmt, which core/error.h
// includes.

#include <cstddef>

namespace residuum::cuda {

/// Throws a resource error with the call that failed and CUDA's own words for it.
[[noreturn]] void device_error(const char* call, const char* reason);

/// Throws a resource error that says how many bytes were asked for, and how many there are.
[[noreturn]] void no_room(std::size_t wanted, std::size_t free, std::size_t total);

}  // namespace residuum::cuda
