// LD_PRELOAD of this library lets idle processes of Open MPI wait in the kernel. With
// mpi_yield_when_idle Open MPI looks at its sockets by a poll that does not wait, and calls
// sched_yield where nothing has happened. Here sched_yield waits for the same sockets instead, so
// that more processes than cores do not take each other's time. A message wakes its process at
// once; what no socket tells, such as another thread, is seen after a millisecond.

#include <array>
#include <ctime>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

constexpr nfds_t kMost = 1024;
constexpr long kLongestWait = 1'000'000;  // ns

struct Watched {
  std::array<pollfd, kMost> sockets{};
  nfds_t count = 0;
  bool was_busy = false;  // something has happened since the last yield
};

/// Returns the sockets that this thread has polled last.
Watched& watched() {
  thread_local Watched mine;
  return mine;
}

int system_poll(pollfd* sockets, nfds_t count, const timespec* longest) {
  timespec left = longest == nullptr ? timespec{} : *longest;  // the kernel writes into it
  return static_cast<int>(
      syscall(SYS_ppoll, sockets, count, longest == nullptr ? nullptr : &left, nullptr, 0));
}

void remember(const pollfd* sockets, nfds_t count, int happened) {
  Watched& mine = watched();
  mine.was_busy = mine.was_busy || happened > 0;
  mine.count = count <= kMost ? count : 0;
  for (nfds_t i = 0; i < mine.count; ++i) {
    mine.sockets[i] = {.fd = sockets[i].fd, .events = sockets[i].events, .revents = 0};
  }
}

}  // namespace

extern "C" {

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
int poll(pollfd* sockets, nfds_t count, int timeout_ms) {
  const timespec longest{.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1'000'000L};
  const int happened = system_poll(sockets, count, timeout_ms < 0 ? nullptr : &longest);
  if (timeout_ms == 0) {
    remember(sockets, count, happened);
  }
  return happened;
}

// NOLINTNEXTLINE(readability-identifier-naming,bugprone-reserved-identifier): it is glibc's
int __poll_chk(pollfd* sockets, nfds_t count, int timeout_ms, std::size_t /*size*/) {
  return poll(sockets, count, timeout_ms);
}

int sched_yield() noexcept {
  Watched& mine = watched();
  if (mine.was_busy || mine.count == 0) {  // the caller first looks what has come
    mine.was_busy = false;
    return static_cast<int>(syscall(SYS_sched_yield));
  }
  const timespec longest{.tv_sec = 0, .tv_nsec = kLongestWait};
  system_poll(mine.sockets.data(), mine.count, &longest);
  return 0;
}

}  // extern "C"
