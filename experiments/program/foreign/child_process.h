#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace residuum {

/// ChildProcess is a program of the user's that answers on standard output to what it reads from
/// standard input. It is started without a shell, and is killed when this process ends, however
/// that ends. With the object all that it has started is killed, wherever it has gone: this process
/// adopts what outlives it. There may be several, which one thread at a time starts and ends; what
/// one of them has left to this process ends with whichever ends first.
class ChildProcess {
 public:
  struct Limits {
    double timeout_s = 30;    // for an answer
    std::string more_time;    // says how a user gives it longer
    double stop_grace_s = 0;  // for an answer that is waited for when the program is to stop
  };

  /// A program that cannot be started is a usage error.
  ChildProcess(const std::vector<std::string>& words, Limits limits);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  /// Sends the request and returns the answer; `size` tells from the bytes so far how long it is,
  /// nothing while it cannot. A request to stop throws an Error with ExitCode::stopped. Returns
  /// nothing if the program has ended before its answer. A program that does not answer in time,
  /// goes on after its answer, or writes too much on standard error is a usage error. No more bytes
  /// are kept than `size` has asked for, and one read.
  std::optional<std::string> exchange(
      std::string_view request,
      const std::function<std::optional<std::size_t>(std::string_view)>& size);

  /// Accepts the bytes of an answer that is no longer needed; the next one uses their memory.
  void recycle(std::string answer);

  /// Returns in words how the program ended, and its last line on standard error.
  std::string ending();

 private:
  struct Deadline;

  void heed_stop(Deadline& deadline) const;
  bool wait_for_pipes(bool has_output, Deadline& deadline);
  void send(std::string_view& request) const;
  bool receive();
  void refuse_surplus(std::size_t expected) const;
  void drain_errors();
  void kill_all();
  void kill_descendants() const;
  std::string last_words() const;

  Limits limits_;
  std::set<pid_t> others_;  // processes below this one that were there before
  pid_t child_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::string received_;
  std::string error_tail_;
  std::size_t error_bytes_ = 0;
};

}  // namespace residuum
