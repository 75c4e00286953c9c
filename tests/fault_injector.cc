// LD_PRELOAD of this library lets one system call on files go wrong. RESIDUUM_FAULT says which and
// how, "CALL:NUMBER:HOW": CALL is write, open, fsync, rename or unlink, NUMBER counts from 1, HOW
// is once (ENOSPC in this call), ever (in this and every later one) or kill (SIGKILL before it).
// RESIDUUM_FAULT_COUNTS names a file that takes how many of each a program has made in all.
// Pipes, sockets and devices are left alone: their traffic is not that of results.

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

enum Call : std::size_t { kWrite, kOpen, kFsync, kRename, kUnlink, kCalls };
constexpr std::array<const char*, kCalls> kNames{"write", "open", "fsync", "rename", "unlink"};

std::array<std::atomic<long>, kCalls> made{};

struct Fault {
  std::size_t call = kCalls;  // none
  long number = 0;
  char how = 'o';  // once, ever, kill
};

Fault read_fault() {
  Fault fault;
  const char* text = std::getenv("RESIDUUM_FAULT");  // NOLINT(concurrency-mt-unsafe)
  for (std::size_t call = 0; text != nullptr && call < kCalls; ++call) {
    const std::size_t length = std::strlen(kNames[call]);
    if (std::strncmp(text, kNames[call], length) == 0 && text[length] == ':') {
      char* rest = nullptr;
      fault.number = std::strtol(text + length + 1, &rest, 10);
      fault.how = rest[0] == ':' ? rest[1] : 'o';
      fault.call = call;
    }
  }
  return fault;
}

/// Counts the call; true if it is to fail.
bool fails(Call call) {
  static const Fault fault = read_fault();
  const long number = ++made[call];
  const bool is_hit =
      call == fault.call && (fault.how == 'e' ? number >= fault.number : number == fault.number);
  if (is_hit && fault.how == 'k') {
    (void)raise(SIGKILL);
  }
  if (is_hit) {
    errno = ENOSPC;
  }
  return is_hit;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));  // NOLINT
}

bool is_file(int descriptor) {
  struct stat found {};
  return fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
}

struct Counts {
  ~Counts() {
    const char* name = std::getenv("RESIDUUM_FAULT_COUNTS");  // NOLINT(concurrency-mt-unsafe)
    std::FILE* const file = name == nullptr ? nullptr : std::fopen(name, "w");
    for (std::size_t call = 0; file != nullptr && call < kCalls; ++call) {
      std::fprintf(file, "%s %ld\n", kNames[call], made[call].load());
    }
    if (file != nullptr) {
      std::fclose(file);
    }
  }
} const counts;

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* bytes, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return is_file(descriptor) && fails(kWrite) ? -1 : real(descriptor, bytes, size);
}

int openat(int folder, const char* name, int flags, ...) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  const bool is_output = (flags & (O_WRONLY | O_RDWR)) != 0;
  return is_output && fails(kOpen) ? -1 : real(folder, name, flags, mode);
}

int fsync(int descriptor) {
  static auto* const real = next<int(int)>("fsync");
  return fails(kFsync) ? -1 : real(descriptor);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*)>("renameat");
  return fails(kRename) ? -1 : real(from_folder, from, to_folder, to);
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  static auto* const real = next<int(int, const char*, int)>("unlinkat");
  return fails(kUnlink) ? -1 : real(folder, name, flags);
}

}  // extern "C"
