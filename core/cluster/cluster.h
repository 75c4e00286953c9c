#pragma once
// A cluster distributes P logical workers over R processes, R <= P. Worker p lives on one process,
// and each process has a contiguous block of workers. Algorithms are written over workers: an edge
// is a function call if both ends live on one process, else a message. Every order of summation is
// defined on worker numbers, so that results have the same bits at any R.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cluster/world.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// Lists refers to one vector per worker, where it is stored.
template <class Real>
using Lists = std::span<const SparseVector<Real>* const>;

/// Holds the buffers in which messages are packed, received and unpacked, from one exchange to the
/// next.
template <class Real>
struct ReceiveBuffers {
  static constexpr std::size_t kRooms = 8;

  Bytes packed;
  std::array<Bytes, kRooms> rooms;  // used in turn for expected messages
  std::size_t posted = 0;
  std::size_t received = 0;
  bool is_full() const { return posted == received + kRooms; }
  SparseVector<Real> unpacked;

  Gathered gathered;
  std::vector<SparseVector<Real>> lists;
  std::vector<const SparseVector<Real>*> all;
};

class Cluster {
 public:
  /// More processes than workers is a usage error.
  Cluster(World& world, int workers);
  /// Makes a cluster whose root is a server and hosts no worker. The others have the workers, in
  /// consecutive blocks of whole nodes of `per_node` workers. One process, or more than one besides
  /// the server for each node, is a usage error.
  static Cluster with_server(World& world, int workers, int per_node = 1);

  /// Makes a cluster whose process r has the workers begins[r], ..., begins[r + 1] - 1, of which
  /// there may be none.
  static Cluster with_blocks(World& world, std::vector<int> begins);

  World& world() const { return *world_; }
  int workers() const { return workers_; }
  int host(int worker) const;
  bool here(int worker) const { return worker >= first_ && worker < first_ + count_; }
  /// This process has the workers first(), ..., first() + count() - 1.
  int first() const { return first_; }
  int count() const { return count_; }
  /// True if the blocks of workers were given, not computed from the numbers of workers and
  /// processes.
  bool has_own_blocks() const { return !layout_.begins.empty(); }
  /// Returns the position of a worker of this process among them.
  std::size_t slot(int worker) const { return static_cast<std::size_t>(worker - first_); }

  /// Posts a receive for the next message on the edge from -> to, of at most `most_entries`
  /// entries; does nothing if the message is local. Call it in the same order of edges as
  /// `send_along`. At most kRooms receives may be pending. Posted early, the message arrives while
  /// this process computes.
  template <class Real>
  void post_receive(int from,
                    int to,
                    std::size_t most_entries,
                    ReceiveBuffers<Real>& buffers) const;

  /// Moves one message along the edge from -> to. Every process calls this for every edge, in the
  /// same order. `message` is read where `from` lives; the result is the message where `to` lives
  /// (in `buffers` if it came from another process, until the next one) and null elsewhere.
  template <class Real>
  const SparseVector<Real>* send_along(int from,
                                       int to,
                                       const SparseVector<Real>* message,
                                       ReceiveBuffers<Real>& buffers) const;

  /// Copies what the process of `from` holds, at most `most_entries` entries, to all processes,
  /// along a binomial tree. A process sends to its next child when the one before has the whole
  /// message: on a slow network the messages would else share the link, and the child that has most
  /// below it would wait for its siblings. The child says so by one byte.
  template <class Real>
  void broadcast(int from,
                 std::size_t most_entries,
                 SparseVector<Real>& vector,
                 ReceiveBuffers<Real>& buffers) const;

  /// Copies bytes in the same way. `room` has the message on the process of `from`, and room for
  /// the longest one elsewhere; the result is the message.
  std::span<std::byte> broadcast(int from, std::span<std::byte> room) const {
    return pass_down(host(from), room);
  }

  /// Returns the vectors of all workers in worker order, on every process; `mine` are this
  /// process's. They lie in `buffers` until its next use; with a single process the result is
  /// `mine`.
  template <class Real>
  Lists<Real> all_gather(Lists<Real> mine, ReceiveBuffers<Real>& buffers) const;

  /// Returns the numbers of all workers in worker order, on every process; `mine` holds
  /// `per_worker` numbers for each worker of this process.
  std::vector<double> all_gather(std::span<const double> mine) const;

  /// sum := add(P-1, ... add(1, add(0, 0))), in worker order. add(worker, begin, block) adds the
  /// worker's numbers from `begin` on to a block of the sum, on the worker's own process. Blocks go
  /// from process to process, so that all processes compute at once. The result is on every process
  /// if `everywhere`, else on the root alone (`sum` is then overwritten on the others).
  template <class T, class Add>
  void sum_in_worker_order(std::span<T> sum, bool everywhere, const Add& add) const {
    for (std::size_t begin = 0; begin < sum.size(); begin += kBlockBytes / sizeof(T)) {
      start_block(std::as_writable_bytes(sum), begin * sizeof(T));
      add_here(begin, block_of(sum, begin), add);
      pass_on(std::as_writable_bytes(sum), begin * sizeof(T), everywhere);
    }
    finish_sum(std::as_writable_bytes(sum), everywhere);
  }

  /// Computes the same sum on every process: each adds its workers in order, and MPI_Allreduce adds
  /// the processes. The bits depend on the number of processes.
  template <class T, class Add>
  void sum_in_any_order(std::span<T> sum, const Add& add) const {
    for (std::size_t begin = 0; begin < sum.size(); begin += kBlockBytes / sizeof(T)) {
      const std::span<T> block = block_of(sum, begin);
      std::fill(block.begin(), block.end(), T{0});
      add_here(begin, block, add);
    }
    world_->add_up(sum);
  }

 private:
  /// A layout says which processes host workers.
  struct Layout {
    int server = 0;                // processes that host no worker: 0, or 1 for a server
    int per_node = 1;              // workers that stay together
    std::vector<int> begins = {};  // of the processes' workers; empty where these are equal blocks
  };
  Cluster(World& world, int workers, Layout layout);
  /// Returns the first worker of process `rank`, and P for `rank` = number of processes.
  int begin_of(int rank) const;

  /// A block of a dense sum stays in the L2 cache while all workers add to it.
  static constexpr std::size_t kBlockBytes = std::size_t{1} << 18;

  /// The most blocks of a sum that are under way. Without a limit the first process could have sent
  /// all of them before the next takes one, and somebody would have to keep them meanwhile.
  std::size_t most_under_way() const { return 16 + static_cast<std::size_t>(world_->size()); }

  template <class T>
  static std::span<T> block_of(std::span<T> sum, std::size_t begin) {
    return sum.subspan(begin, std::min(kBlockBytes / sizeof(T), sum.size() - begin));
  }

  template <class T, class Add>
  void add_here(std::size_t begin, std::span<T> block, const Add& add) const {
    for (int worker = first_; worker < first_ + count_; ++worker) {
      add(worker, begin, block);
    }
  }

  std::span<std::byte> pass_down(int root, std::span<std::byte> room) const;
  /// Sets the block at `begin` to the sum of the processes before this one, or to 0 on the first.
  void start_block(std::span<std::byte> sum, std::size_t begin) const;
  /// Passes the block at `begin` to the next process. The last one returns it to the root, unless
  /// all processes are told the whole sum later.
  void pass_on(std::span<std::byte> sum, std::size_t begin, bool everywhere) const;
  void finish_sum(std::span<std::byte> sum, bool everywhere) const;

  World* world_;
  int workers_;
  Layout layout_;
  int first_;
  int count_;
};

/// Returns log2(n) rounded up: the number of messages on the critical path of recursive doubling.
int ceil_log2(int n);

}  // namespace residuum
