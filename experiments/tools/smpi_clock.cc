// The clock that a run's times are taken by, for programs on simulated processes: SimGrid replaces
// the functions of C that tell the time by those of its virtual clock, and this does the same for
// the one of C++. The program is linked so that it finds this definition before its library's.

#include <chrono>
#include <time.h>  // NOLINT(modernize-deprecated-headers): SimGrid replaces the global name

std::chrono::steady_clock::time_point std::chrono::steady_clock::now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time_point(std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec));
}
