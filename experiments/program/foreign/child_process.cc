#include "experiments/program/foreign/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

#include "core/child_program.h"
#include "core/error.h"
#include "experiments/program/console/signals.h"

namespace residuum {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration duration_of(double number) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(number));
}

constexpr std::size_t kReadBytes = std::size_t{1} << 18U;
constexpr int kPipeBytes = 1 << 20;
constexpr std::size_t kMostErrorBytes = std::size_t{16} << 20U;
constexpr std::size_t kErrorTail = 4096;

std::string words_of_errno(int code) { return std::generic_category().message(code); }

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

/// Both ends close when a program is started; the one that is ours never blocks. A buffer for large
/// arrays is asked for, and is no condition.
Pipe make_pipe(bool we_read) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    resource_error("cannot make a pipe: {}", words_of_errno(errno));
  }
  const int ours = we_read ? ends[0] : ends[1];
  fcntl(ours, F_SETFL, fcntl(ours, F_GETFL) | O_NONBLOCK);
  fcntl(ours, F_SETPIPE_SZ, kPipeBytes);
  return {.read_end = ends[0], .write_end = ends[1]};
}

void close_end(int& descriptor) {
  if (descriptor >= 0) {
    close(descriptor);
  }
  descriptor = -1;
}

pid_t start_with_pipes(const std::vector<std::string>& words, const std::array<int, 3>& streams) {
  std::error_code failure;
  const pid_t child = start_program(
      {.words = words, .streams = streams, .signal_at_our_end = SIGKILL, .is_apart = true},
      failure);
  if (child < 0) {
    resource_error("cannot start '{}': {}", words.front(), failure.message());
  }
  require(!failure, "cannot start '{}': {}", words.front(), failure.message());
  return child;
}

/// The programs that are at work now; each ends by its own object.
class AtWork {
 public:
  void add(pid_t child) {
    const std::lock_guard lock(mutex_);
    children_.insert(child);
  }
  void remove(pid_t child) {
    const std::lock_guard lock(mutex_);
    children_.erase(child);
  }
  std::set<pid_t> all() const {
    const std::lock_guard lock(mutex_);
    return children_;
  }

 private:
  mutable std::mutex mutex_;
  std::set<pid_t> children_;
};

AtWork& at_work() {
  static AtWork instance;
  return instance;
}

/// Returns the parent of a process; absent where it has ended.
std::optional<pid_t> parent_of(const std::filesystem::path& process) {
  std::ifstream file(process / "stat");
  std::string stat;
  std::getline(file, stat);
  const auto name_end = stat.rfind(") ");  // a name may hold anything; the state follows it
  if (name_end == std::string::npos || name_end + 4 > stat.size()) {
    return std::nullopt;
  }
  return static_cast<pid_t>(std::strtol(stat.c_str() + name_end + 4, nullptr, 10));
}

/// Returns all processes that this one, or a process below it, has started or adopted, but for the
/// programs at work and those below them.
std::set<pid_t> descendants() {
  const std::set<pid_t> spared = at_work().all();
  std::multimap<pid_t, pid_t> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const auto process =
        static_cast<pid_t>(std::strtol(entry.path().filename().c_str(), nullptr, 10));
    const auto parent = process > 0 ? parent_of(entry.path()) : std::nullopt;
    if (parent) {
      children.emplace(*parent, process);
    }
  }
  std::set<pid_t> found;
  std::vector<pid_t> next{getpid()};
  while (!next.empty()) {
    const auto [begin, end] = children.equal_range(next.back());
    next.pop_back();
    for (auto child = begin; child != end; ++child) {
      if (!spared.contains(child->second) && found.insert(child->second).second) {
        next.push_back(child->second);
      }
    }
  }
  return found;
}

}  // namespace

struct ChildProcess::Deadline {
  Clock::time_point at{};
  bool stops = false;  // it is that of a request to stop

  /// Milliseconds until then, at most 100, so that a request to stop is soon seen.
  int wait_ms() const {
    constexpr std::int64_t kLongest = 100;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(at - Clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count() + 1, 0, kLongest));
  }
};

ChildProcess::ChildProcess(const std::vector<std::string>& words, Limits limits)
    : limits_(std::move(limits)), others_(descendants()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // what outlives the program becomes a child of this process
  Pipe in = make_pipe(false);
  Pipe out = make_pipe(true);
  Pipe err = make_pipe(true);
  input_ = in.write_end;
  output_ = out.read_end;
  errors_ = err.read_end;
  const auto close_theirs = [&] {
    close_end(in.read_end);
    close_end(out.write_end);
    close_end(err.write_end);
  };
  try {
    child_ = start_with_pipes(words, {in.read_end, out.write_end, err.write_end});
    at_work().add(child_);
  } catch (...) {
    close_theirs();
    kill_all();
    throw;
  }
  close_theirs();
}

ChildProcess::~ChildProcess() { kill_all(); }

void ChildProcess::kill_all() {
  close_end(input_);
  close_end(output_);
  close_end(errors_);
  if (child_ >= 0) {
    kill(-child_, SIGKILL);
    kill(child_, SIGKILL);  // it may have left its group
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
    at_work().remove(child_);
    child_ = -1;
  }
  kill_descendants();
}

/// Kills what the program has started, in whatever group or session it is. A process that starts
/// others without end is given up after a second.
void ChildProcess::kill_descendants() const {
  constexpr int kRounds = 200;
  constexpr std::chrono::milliseconds kPause{5};
  for (int round = 0; round < kRounds; ++round) {
    std::set<pid_t> left = descendants();
    std::erase_if(left, [this](pid_t process) { return others_.contains(process); });
    if (left.empty()) {
      return;
    }
    for (const pid_t process : left) {
      kill(process, SIGKILL);
      waitpid(process, nullptr, WNOHANG);
    }
    std::this_thread::sleep_for(kPause);
  }
}

/// A request to stop shortens the time for the answer.
void ChildProcess::heed_stop(Deadline& deadline) const {
  if (!deadline.stops && stop_requested().load()) {
    deadline.stops = true;
    deadline.at = std::min(deadline.at, Clock::now() + duration_of(limits_.stop_grace_s));
  }
}

/// Returns whether there is something to read on standard output, if only its end.
bool ChildProcess::wait_for_pipes(bool has_output, Deadline& deadline) {
  heed_stop(deadline);
  if (Clock::now() >= deadline.at) {
    if (deadline.stops) {
      throw Error(ExitCode::stopped, "stopped on request while an answer was waited for");
    }
    usage_error("the compressor did not answer within {} s, and was killed; {}{}",
                limits_.timeout_s,
                limits_.more_time,
                last_words());
  }
  std::array<pollfd, 3> pipes{{{.fd = has_output ? input_ : -1, .events = POLLOUT, .revents = 0},
                               {.fd = output_, .events = POLLIN, .revents = 0},
                               {.fd = errors_, .events = POLLIN, .revents = 0}}};
  return poll(pipes.data(), pipes.size(), deadline.wait_ms()) > 0 && pipes[1].revents != 0;
}

void ChildProcess::send(std::string_view& request) const {
  const auto written = write(input_, request.data(), request.size());
  if (written > 0) {
    request.remove_prefix(static_cast<std::size_t>(written));
  } else if (written < 0 && errno == EPIPE) {
    request = {};  // it reads no more; its answer, or its end, is on standard output
  }
}

/// Returns false at the end of the stream.
bool ChildProcess::receive() {
  const std::size_t before = received_.size();
  received_.resize(before + kReadBytes);
  const auto count = read(output_, received_.data() + before, kReadBytes);
  received_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  return count != 0;
}

void ChildProcess::drain_errors() {
  std::array<char, kErrorTail> chunk{};
  const auto count = errors_ < 0 ? 0 : read(errors_, chunk.data(), chunk.size());
  if (count == 0) {
    close_end(errors_);
  }
  if (count <= 0) {
    return;
  }
  error_bytes_ += static_cast<std::size_t>(count);
  error_tail_.append(chunk.data(), static_cast<std::size_t>(count));
  if (error_tail_.size() > kErrorTail) {
    error_tail_.erase(0, error_tail_.size() - kErrorTail);
  }
  require(error_bytes_ <= kMostErrorBytes,
          "the compressor writes more than {} MiB on standard error, and was killed{}",
          kMostErrorBytes >> 20U,
          last_words());
}

void ChildProcess::refuse_surplus(std::size_t expected) const {
  require(received_.size() <= expected,
          "the compressor writes {} bytes more than its answer on standard output{}",
          received_.size() - expected,
          last_words());
}

std::optional<std::string> ChildProcess::exchange(
    std::string_view request,
    const std::function<std::optional<std::size_t>(std::string_view)>& size) {
  Deadline deadline{.at = Clock::now() + duration_of(limits_.timeout_s)};
  receive();
  if (!received_.empty()) {
    size(received_);    // says what is wrong with garbage, whenever it comes
    refuse_surplus(0);  // what fits would be taken for the answer to this request
  }
  for (;;) {
    const auto complete = received_.empty() ? std::nullopt : size(received_);
    if (complete) {
      refuse_surplus(*complete);  // also while it has not read its request: more would pile up
    }
    if (complete && received_.size() == *complete && request.empty()) {
      return std::exchange(received_, {});
    }
    const bool has_answer = wait_for_pipes(!request.empty(), deadline);
    if (!request.empty()) {
      send(request);
    }
    drain_errors();
    if (has_answer && !receive()) {
      return std::nullopt;
    }
  }
}

void ChildProcess::recycle(std::string answer) {
  if (received_.empty()) {
    answer.clear();
    received_ = std::move(answer);
  }
}

std::string ChildProcess::ending() {
  constexpr int kPatience = 100;
  constexpr auto kPause = std::chrono::milliseconds(10);
  siginfo_t info{};
  for (int i = 0; i < kPatience && info.si_pid == 0; ++i) {
    drain_errors();
    if (waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOWAIT | WNOHANG) != 0) {
      break;
    }
    if (info.si_pid == 0) {
      std::this_thread::sleep_for(kPause);
    }
  }
  drain_errors();
  if (info.si_pid == 0) {
    return "it closed its standard output" + last_words();
  }
  const char* how = info.si_code == CLD_EXITED ? "with exit code" : "by signal";
  return fmt::format("it ended {} {}{}", how, info.si_status, last_words());
}

std::string ChildProcess::last_words() const {
  constexpr std::string_view kEnds = "\r\n \t";
  const auto end = error_tail_.find_last_not_of(kEnds);
  if (end == std::string::npos) {
    return "";
  }
  const auto begin = error_tail_.find_last_of("\r\n", end);
  const std::size_t first = begin == std::string::npos ? 0 : begin + 1;
  return fmt::format("; its last line on standard error: {}",
                     error_tail_.substr(first, end + 1 - first));
}

}  // namespace residuum
