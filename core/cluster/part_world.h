#pragma once
// A part world is some of the processes of a world, numbered anew in their order. Its collective
// calls are made of messages, so that the other processes have no part in them.

#include <span>
#include <string>
#include <vector>

#include "core/cluster/world.h"

namespace residuum {

class PartWorld final : public World {
 public:
  /// `ranks` are the processes of the part, which increase; this process is one of them. The whole
  /// must outlive the part.
  PartWorld(World& whole, std::vector<int> ranks);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(ranks_.size()); }
  int local_rank() const override { return whole_.local_rank(); }

  void send(int to, std::span<const std::byte> bytes) override { whole_.send(of(to), bytes); }
  void post(int from, std::span<std::byte> room) override { whole_.post(of(from), room); }
  std::size_t take(int from) override { return whole_.take(of(from)); }

  void broadcast(int root, std::span<std::byte> bytes) override;
  void all_gather(std::span<const std::byte> mine, Gathered& all) override;
  std::int64_t minimum(std::int64_t mine) override;
  /// Adds in the order of the processes.
  void add_up(std::span<float> numbers) override;
  void add_up(std::span<double> numbers) override;

  [[noreturn]] void abort(ExitCode code) override;
  bool sends_wait() const override { return whole_.sends_wait(); }
  std::string description() const override { return whole_.description(); }

 private:
  int of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }
  template <class Real>
  void add_in_order(std::span<Real> numbers);

  World& whole_;
  std::vector<int> ranks_;
  int rank_;
};

}  // namespace residuum
