#pragma once
// The indices are divided into P regions, one for each worker: every worker sends the part of its
// list that lies in a region to the owner of the region, and owners sum:
//
//   worker 0   [ 00 | 01 | 02 ]                 worker r sums the column r:
//   worker 1   [ 10 | 11 | 12 ]   0r + 1r + 2r  in the region begins[r] .. begins[r + 1] - 1
//   worker 2   [ 20 | 21 | 22 ]

#include <cstddef>
#include <vector>

#include "core/aggregators/gather.h"
#include "core/messages/transfers.h"

namespace residuum {

template <class Real>
class RegionSums {
 public:
  /// Sums the lists of all workers in the regions of this process's workers; `mine` are the lists
  /// of those, with at most `most_entries` each. The region of worker r is begins[r], ...,
  /// begins[r + 1] - 1, for r < P. Owners add neighbouring workers' parts pairwise, as an
  /// all-gather adds whole lists: the bits are the same.
  void take(const Cluster& cluster,
            const ListBytes& bytes,
            std::size_t most_entries,
            Lists<Real> mine,
            std::span<const std::size_t> begins,
            Ledger& ledger);

  /// Returns the bytes of a list of this worker's region.
  std::size_t bytes_in(int region, std::size_t entries, const ListBytes& bytes) const;

  /// Returns the sum in the region of each worker here.
  Lists<Real> sums() const { return sums_; }

  /// all := the lists of all workers, one behind the other, which are in the order of the indices.
  void gather(const Cluster& cluster, Lists<Real> mine, SparseVector<Real>& all);

 private:
  std::size_t begin_in(const Cluster& cluster, int worker, int region) const;
  void cut_at_regions(const Cluster& cluster, Lists<Real> mine);
  void scatter(const Cluster& cluster, const ListBytes& bytes, Ledger& ledger) const;
  Lists<Real> parts_of_regions_here(const Cluster& cluster, Lists<Real> mine);
  Edge ends_of(std::size_t number) const;
  std::size_t most_entries_of(std::size_t number) const;
  std::size_t number_of(int from, std::size_t process) const;
  void pass_all(const Cluster& cluster, Lists<Real> mine);
  void expect_ahead(const Cluster& cluster);
  void pass(const Cluster& cluster, Lists<Real> mine, std::size_t number);
  void divide_sum(const Cluster& cluster);

  PairwiseSum<Real> pairwise_;
  std::span<const std::size_t> region_begins_;
  std::vector<std::size_t> begins_;  // of every region, and the end, in each list here
  std::vector<int> owners_;          // the first worker of each process, and P
  std::vector<SparseVector<Real>> parts_;
  std::vector<const SparseVector<Real>*> pointers_;
  std::size_t most_entries_ = 0;
  std::vector<std::size_t> incoming_;  // the messages that come to this process, in order
  std::size_t expected_ = 0;           // those that have room
  SparseVector<Real> outgoing_;
  SparseVector<Real> sum_here_;  // of the regions here
  std::vector<SparseVector<Real>> regions_;
  std::vector<const SparseVector<Real>*> sums_;
  ReceiveBuffers<Real> buffers_;
};

}  // namespace residuum
