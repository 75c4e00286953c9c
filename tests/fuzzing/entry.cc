// The entry point of libFuzzer; compiled once for every target, which CMakeLists.txt names.

#include <cstddef>
#include <cstdint>

#include "tests/fuzzing/targets.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* const bytes =
      reinterpret_cast<const char*>(data);  // NOLINT(*-reinterpret-cast): bytes looked at as char
  residuum::fuzzing::accepts(residuum::fuzzing::RESIDUUM_FUZZ_TARGET, {bytes, size});
  return 0;
}
