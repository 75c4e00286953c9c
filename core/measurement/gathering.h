#pragma once
// The root gathers means, scalars and lists from the workers of all processes. They are float64
// whatever the precision of the model.

#include <algorithm>
#include <span>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/measurement/late_measurement.h"
#include "core/training/worker.h"
#include "core/vectors/dense.h"
#include "core/vectors/sparse_vector.h"

namespace residuum {

/// The mean over the workers of a run has the same bits at any number of processes: it is summed in
/// worker order, in float64. There are two ways to the same sum. If few workers are on other
/// processes, they send their vectors to the root, which adds them. Else the sum goes from process
/// to process and back to the root: 2 x 8 bytes of an entry pass the root, whatever the number of
/// workers.
template <class Real>
class MeanOverWorkers {
 public:
  /// Takes means of `dimension` numbers.
  MeanOverWorkers(const Cluster& cluster, std::size_t dimension)
      : cluster_(cluster),
        dimension_(dimension),
        sends_vectors_(workers_elsewhere() * sizeof(Real) <= 2 * sizeof(double)),
        passing_(cluster.world().is_root() || sends_vectors_ ? 0 : dimension) {}

  /// Takes the mean of the numbers vector_of(worker) over all workers; only the root keeps it.
  /// `workers` are those of this process. The call is collective.
  template <class VectorOf>
  void take(std::span<const Worker<Real>> workers,
            const VectorOf& vector_of,
            std::vector<double>& mean) {
    take_some(
        workers, cluster_.workers(), [](int) { return true; }, vector_of, mean);
  }

  /// Takes the sum over the workers with takes(number), divided by `divisor`.
  template <class Takes, class VectorOf>
  void take_some(std::span<const Worker<Real>> workers,
                 double divisor,
                 const Takes& takes,
                 const VectorOf& vector_of,
                 std::vector<double>& mean) {
    const auto add = [&](const Worker<Real>& worker, std::size_t begin, std::span<double> block) {
      if (takes(worker.number)) {
        add_to<Real>(block, vector_of(worker).subspan(begin, block.size()));
      }
    };
    if (cluster_.world().size() == 1) {
      take_here(workers, divisor, add, mean);
      return;
    }
    const bool is_root = cluster_.world().is_root();
    if (sends_vectors_ && !is_root) {
      send_vectors(workers, takes, vector_of);
      return;
    }
    if (sends_vectors_) {
      add_vectors(workers, takes, add, mean);
      divide(mean, divisor);
      return;
    }
    cluster_.sum_in_worker_order(std::span(is_root ? mean : passing_),
                                 /*everywhere=*/false,
                                 [&](int worker, std::size_t begin, std::span<double> block) {
                                   add(workers[cluster_.slot(worker)], begin, block);
                                 });
    if (is_root) {
      divide(mean, divisor);
    }
  }

 private:
  /// Takes the mean on one process, which has all vectors. It goes block by block, so that sums
  /// stay in the nearest cache, and adds in the same order as several processes do.
  template <class Add>
  void take_here(std::span<const Worker<Real>> workers,
                 double divisor,
                 const Add& add,
                 std::vector<double>& mean) {
    constexpr std::size_t kBlock = 1024;
    for (std::size_t begin = 0; begin < mean.size(); begin += kBlock) {
      const auto block = std::span(mean).subspan(begin, std::min(kBlock, mean.size() - begin));
      std::fill(block.begin(), block.end(), 0.0);
      for (const auto& worker : workers) {
        add(worker, begin, block);
      }
      divide(block, divisor);
    }
  }

  /// The vectors travel in blocks of kNumbers numbers. After every kMostUnderWay of them the root
  /// says that it has them, so that nobody has to keep a whole vector meanwhile.
  static constexpr std::size_t kNumbers = std::size_t{1} << 20U;
  static constexpr std::size_t kMostUnderWay = 4;

  std::size_t length_at(std::size_t begin) const { return std::min(kNumbers, dimension_ - begin); }
  bool is_answered(std::size_t begin) const {
    const std::size_t end = begin + kNumbers;
    return end < dimension_ && end / kNumbers % kMostUnderWay == 0;
  }

  template <class Takes, class VectorOf>
  void send_vectors(std::span<const Worker<Real>> workers,
                    const Takes& takes,
                    const VectorOf& vector_of) {
    World& world = cluster_.world();
    for (std::size_t begin = 0; begin < dimension_; begin += kNumbers) {
      for (const auto& worker : workers) {
        if (takes(worker.number)) {
          world.send(0, std::as_bytes(vector_of(worker).subspan(begin, length_at(begin))));
        }
      }
      if (std::byte has_arrived{}; is_answered(begin)) {
        world.receive(0, std::span(&has_arrived, 1));
      }
    }
  }

  template <class Takes, class Add>
  void add_vectors(std::span<const Worker<Real>> workers,
                   const Takes& takes,
                   const Add& add,
                   std::vector<double>& mean) {
    World& world = cluster_.world();
    room_.resize(length_at(0));
    for (std::size_t begin = 0; begin < dimension_; begin += kNumbers) {
      const auto block = std::span(mean).subspan(begin, length_at(begin));
      std::fill(block.begin(), block.end(), 0.0);
      for (const auto& worker : workers) {
        add(worker, begin, block);
      }
      const auto room = std::span(room_).first(block.size());
      for (int worker = static_cast<int>(workers.size()); worker < cluster_.workers(); ++worker) {
        if (takes(worker)) {
          world.receive(cluster_.host(worker), std::as_writable_bytes(room));
          add_to<Real>(block, room);
        }
      }
      for (int rank = 1; rank < world.size() && is_answered(begin); ++rank) {
        const std::byte has_arrived{};
        world.send(rank, std::span(&has_arrived, 1));
      }
    }
  }

  /// Returns how many workers are not on the root, which has the first ones.
  std::size_t workers_elsewhere() const {
    int elsewhere = 0;
    for (int worker = 0; worker < cluster_.workers(); ++worker) {
      elsewhere += cluster_.host(worker) != 0 ? 1 : 0;
    }
    return static_cast<std::size_t>(elsewhere);
  }

  static void divide(std::span<double> sums, double divisor) {
    for (double& value : sums) {
      value /= divisor;
    }
  }

  const Cluster& cluster_;
  std::size_t dimension_;
  bool sends_vectors_;
  std::vector<double> passing_;  // room for sums on the processes that do not keep them
  std::vector<Real> room_;       // for a block of another process's vector, on the root
};

/// Returns the vector with its values in float64.
template <class Real>
SparseVector<double> widened(const SparseVector<Real>& vector) {
  return {.indices = vector.indices, .values = {vector.values.begin(), vector.values.end()}};
}

/// Gathers the scalars of all workers on every process. `workers` are those of this process. The
/// call is collective.
template <class Real>
std::vector<WorkerScalars> gathered_scalars(const Cluster& cluster,
                                            std::span<const Worker<Real>> workers);

/// The lists of a version, on the root: the entries that each worker sent, those taken from its
/// accumulator, and those put back.
template <class Real>
class VersionLists {
 public:
  /// Gathers the lists of a version in lockstep. `workers` are those of this process. The call is
  /// collective.
  void gather(const Cluster& cluster,
              std::span<const Worker<Real>> workers,
              const Participants& participants);
  /// Takes those of a version that is made of late messages: all that was sent is applied, so that
  /// nothing comes back.
  void take(const VersionParts<Real>& parts, LateMeasurement<Real>& measurement);

  /// Returns the messages of those that take part.
  std::span<const SparseVector<double>> sent() const { return sent_; }
  /// Return what became of the accumulators of all workers.
  std::span<const SparseVector<double>> removed() const { return removed_; }
  std::span<const SparseVector<double>> returned() const { return returned_; }
  /// True if messages are whole accumulators; they have no lists then.
  bool sent_everything() const { return sent_everything_; }
  bool removed_is_dense() const { return removed_is_dense_; }

 private:
  void share_form(const Cluster& cluster,
                  std::span<const Worker<Real>> workers,
                  const Participants& participants);

  std::vector<SparseVector<double>> sent_, removed_, returned_;
  bool sent_everything_ = false;
  bool removed_is_dense_ = false;
};

}  // namespace residuum
