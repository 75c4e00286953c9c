#pragma once
// Runs a test once for every set of instructions that this machine has and the library was built
// for.

#include <gtest/gtest.h>

#include <algorithm>
#include <hwy/targets.h>
#include <string>

#include "core/vectors/kernels.h"

namespace residuum::test {

/// Dispatches to one target as long as it lives.
class UseTarget {
 public:
  explicit UseTarget(std::int64_t target) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
  UseTarget(const UseTarget&) = delete;
  UseTarget& operator=(const UseTarget&) = delete;
  UseTarget(UseTarget&&) = delete;
  UseTarget& operator=(UseTarget&&) = delete;
  ~UseTarget() {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
};

template <class Check>
void for_each_target(Check&& check) {
  // The kernels leave out some targets that a file of tests is compiled for.
  const auto names = kernels::target_names();
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (std::find(names.begin(), names.end(), hwy::TargetName(target)) == names.end()) {
      continue;
    }
    const UseTarget use(target);
    SCOPED_TRACE(kernels::target_name());
    ASSERT_EQ(std::string(kernels::target_name()), hwy::TargetName(target));
    check();
  }
}

}  // namespace residuum::test
