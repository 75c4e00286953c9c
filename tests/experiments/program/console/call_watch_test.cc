#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>

#include "experiments/program/console/signals.h"

namespace residuum {
namespace {

using namespace std::chrono_literals;

TEST(CallWatch, SpeaksOnceWhereTheCallDoesNotReturn) {
  std::promise<void> spoke;
  std::atomic<int> times = 0;
  {
    const CallWatch watch(32ms, [&] {
      ++times;
      spoke.set_value();
    });
    spoke.get_future().wait();
  }

  EXPECT_EQ(times, 1);
}

TEST(CallWatch, IsSilentWhereTheCallReturns) {
  std::atomic<int> times = 0;
  {
    const CallWatch watch(1h, [&] { ++times; });
  }

  EXPECT_EQ(times, 0);
}

}  // namespace
}  // namespace residuum
