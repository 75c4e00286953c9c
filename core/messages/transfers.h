#pragma once
// Transfers list what the workers of one exchange send to each other, and what they compute in
// between, in an order in which virtual clocks can replay it. Every process lists the same steps;
// an amount stands where the process knows it and is 0 elsewhere, so that sums over the processes
// are the amounts of all.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace residuum {

/// A message of a tree.
struct Edge {
  int from = 0;
  int to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// The binary tree of gTopKAllReduce (Shi et al., ICDCS 2019) is defined on worker numbers, for any
/// P. With m = 2^floor(log2 P), workers r >= m are merged into r - m first; then, at strides 1, 2,
/// 4, ..., worker i receives from i + stride. With P = 6 and m = 4:
///
///   worker      0     1     2     3     4     5
///   fold        <-----------------------4
///                     <-----------------------5
///   stride 1    <-----1     <-----3
///   stride 2    <-----------2                       worker 0 has all
///
/// Returns the rounds of the reduction to worker 0; the edges of a round touch different workers.
inline std::vector<std::vector<Edge>> tree_rounds(int workers) {
  std::vector<std::vector<Edge>> rounds;
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(workers)));
  if (workers > whole) {
    auto& fold = rounds.emplace_back();
    for (int worker = whole; worker < workers; ++worker) {
      fold.push_back({.from = worker, .to = worker - whole});
    }
  }
  for (int stride = 1; stride < whole; stride *= 2) {
    auto& round = rounds.emplace_back();
    for (int to = 0; to + stride < whole; to += 2 * stride) {
      round.push_back({.from = to + stride, .to = to});
    }
  }
  return rounds;
}

/// A step of an exchange. Messages of one round are sent at the same time: none of them waits for
/// another, but the next round waits for what its senders received.
struct Transfer {
  enum class Kind : std::uint8_t {
    message,     // from -> to; amount: bytes
    end_round,   // what was sent has arrived
    work,        // of worker `to`; amount: seconds
    work_all,    // of every worker; amount: seconds of each
    all_gather,  // every worker's list to every other; P amounts: bytes of each list
    tree_up,     // messages of equal length along tree_rounds to worker 0; amount: bytes of each
    tree_down,   // the same from worker 0 back
    chain,       // from worker 0 on to the last and back; amount: bytes of each message
    ring,        // a sum by chunks round the first workers of all nodes; amounts: bytes of each
                 // chunk, as many as nodes
    doubling,    // pairs exchange at distances 1, 2, 4, ...; amount: bytes of each message
  };

  Kind kind = Kind::message;
  int from = 0;
  int to = 0;
  std::size_t amount = 0;  // the place of its first amount
  int per_node = 1;        // ring: workers to a node
};

class Transfers {
 public:
  /// With `times_work`, the seconds that workers compute between messages are measured.
  explicit Transfers(bool times_work = false) : times_work_(times_work) {}
  bool times_work() const { return times_work_; }

  /// Begins the list of another exchange.
  void clear() {
    steps_.clear();
    amounts_.clear();
  }
  /// Adds a step with one amount.
  void add(Transfer::Kind kind, double amount, int from = 0, int to = 0) {
    steps_.push_back({.kind = kind, .from = from, .to = to, .amount = amounts_.size()});
    amounts_.push_back(amount);
  }
  /// Adds a step with `count` amounts that are 0, and returns them.
  std::span<double> add_row(Transfer::Kind kind, std::size_t count, int per_node = 1) {
    steps_.push_back({.kind = kind, .amount = amounts_.size(), .per_node = per_node});
    amounts_.resize(amounts_.size() + count);
    return std::span(amounts_).last(count);
  }

  std::span<const Transfer> steps() const { return steps_; }
  /// Returns the amounts of all steps, which the owner sums over the processes.
  std::span<double> amounts() { return amounts_; }
  /// Returns the `count` amounts of a step.
  std::span<const double> amounts(const Transfer& step, std::size_t count = 1) const {
    return std::span(amounts_).subspan(step.amount, count);
  }

 private:
  bool times_work_;
  std::vector<Transfer> steps_;
  std::vector<double> amounts_;
};

}  // namespace residuum
