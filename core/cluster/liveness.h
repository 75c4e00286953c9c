#pragma once
// Liveness judges by their last signs which of the other processes are still there, and knows to
// whom this process owes a sign. It has no clock of its own, so that tests need not wait.

#include <chrono>
#include <optional>
#include <vector>

namespace residuum {

class Liveness {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  /// A process is lost when it has given no sign for `patience`. Signs are owed kSigns times as
  /// often.
  Liveness(int rank, int size, std::chrono::milliseconds patience, Time now);
  static constexpr int kSigns = 8;

  /// Returns how often each process owes the others a sign.
  Clock::duration period() const { return period_; }

  /// Notes that this process polls its queue now; the other members refer to this time. Between two
  /// polls at most one period counts as silence of the others: in what goes beyond it this process
  /// itself was stopped or had no CPU.
  void look(Time now);

  /// Notes a sign of life, any packet from that process.
  void hear(int from);
  /// Notes that a packet goes to that process, which is a sign too.
  void write(int to);
  /// Notes that this process has said goodbye to all: the others expect no more signs of it.
  void say_goodbye() { says_nothing_ = true; }
  /// Notes the goodbye of another process, of which no more signs are expected. It still waits for
  /// those of this one.
  void leave(int peer);

  bool owes_sign(int to) const;
  /// Returns the process that has been silent for the longest time, if that is `patience` or more.
  std::optional<int> lost() const;
  bool have_all_left() const;

 private:
  struct Peer {
    Time heard;
    Time written;
    bool has_left = false;
  };

  Clock::duration patience_;
  Clock::duration period_;
  Time now_;
  int rank_;
  bool says_nothing_ = false;
  std::vector<Peer> peers_;
};

}  // namespace residuum
