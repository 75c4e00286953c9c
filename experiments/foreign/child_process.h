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
/// standard input. It is started without a shell. With the object all that it has started is
/// killed, wherever it has gone: this process adopts what outlives it. There is one at a time.
class ChildProcess {
 public:
  /// A program that cannot be started is a usage error.
  ChildProcess(const std::vector<std::string>& words, double timeout_s);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&&) = delete;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  /// Sends the request and returns the answer; `size` tells from the bytes so far how long it is,
  /// nothing while it cannot. Returns nothing if the program has ended before its answer. A program
  /// that does not answer in time, goes on after its answer, or writes too much on standard error
  /// is a usage error. No more bytes are kept than `size` has asked for, and one read.
  std::optional<std::string> exchange(
      std::string_view request,
      const std::function<std::optional<std::size_t>(std::string_view)>& size);

  /// Says how the program ended, and its last line on standard error.
  std::string ending();

 private:
  struct Deadline;

  void wait_for_pipes(bool has_output, const Deadline& deadline);
  void send(std::string_view& request) const;
  bool receive();
  void refuse_surplus(std::size_t expected) const;
  void drain_errors();
  void kill_all();
  void kill_descendants() const;
  std::string last_words() const;

  double timeout_s_;
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
