#pragma once
// A Python with NumPy, for compressors that take part in tests.

#include <string>
#include <vector>

#include "tests/experiments/support.h"

namespace residuum {

/// Returns the first Python that has the module; empty where none has.
inline std::string python_with(const std::string& module) {
  const TemporaryFolder folder;
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (run_program({python, "-c", "import " + module}, folder.path()).code == 0) {
      return python;
    }
  }
  return {};
}

/// Skips a test, or with SetUp all tests of a fixture, where no Python has NumPy.
#define RESIDUUM_NEEDS_NUMPY()                                        \
  if (python_with("numpy").empty()) {                                 \
    GTEST_SKIP() << "no python3 with NumPy (python3-numpy) is there"; \
  }                                                                   \
  static_assert(true)

}  // namespace residuum
