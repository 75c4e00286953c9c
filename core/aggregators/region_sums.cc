#include "core/aggregators/region_sums.h"

#include <algorithm>

namespace residuum {
namespace {

/// Returns where the entries of this index and those above it begin.
template <class Real>
std::size_t position_of(const SparseVector<Real>& list, std::size_t index) {
  const auto& indices = list.indices;
  return static_cast<std::size_t>(std::lower_bound(indices.begin(), indices.end(), index) -
                                  indices.begin());
}

template <class Real>
void cut_out(const SparseVector<Real>& list,
             std::size_t begin,
             std::size_t end,
             SparseVector<Real>& part) {
  part.resize(end - begin);
  std::copy(list.indices.data() + begin, list.indices.data() + end, part.indices.data());
  std::copy(list.values.data() + begin, list.values.data() + end, part.values.data());
}

}  // namespace

template <class Real>
void RegionSums<Real>::take(const Cluster& cluster,
                            const ListBytes& bytes,
                            std::size_t most_entries,
                            Lists<Real> mine,
                            std::span<const std::size_t> begins,
                            Ledger& ledger) {
  region_begins_ = begins;
  most_entries_ = most_entries;
  cut_at_regions(cluster, mine);
  scatter(cluster, bytes, ledger);
  const auto parts = parts_of_regions_here(cluster, mine);
  // Each worker sums its own region, which is one of those that the process sums together.
  ledger.work_all([&] { pairwise_.take(parts, sum_here_); }, 1.0 / cluster.count());
  divide_sum(cluster);
}

template <class Real>
std::size_t RegionSums<Real>::bytes_in(int region,
                                       std::size_t entries,
                                       const ListBytes& bytes) const {
  const auto number = static_cast<std::size_t>(region);
  return bytes.of(entries, region_begins_[number + 1] - region_begins_[number]);
}

/// Returns where in the list of a worker here the entries of this region begin.
template <class Real>
std::size_t RegionSums<Real>::begin_in(const Cluster& cluster, int worker, int region) const {
  const auto regions = static_cast<std::size_t>(cluster.workers()) + 1;
  return begins_[cluster.slot(worker) * regions + static_cast<std::size_t>(region)];
}

template <class Real>
void RegionSums<Real>::cut_at_regions(const Cluster& cluster, Lists<Real> mine) {
  begins_.clear();
  for (const auto* list : mine) {
    for (const std::size_t begin : region_begins_) {
      begins_.push_back(position_of(*list, begin));
    }
  }
  owners_.clear();
  for (int worker = 0; worker < cluster.workers(); ++worker) {
    if (worker == 0 || cluster.host(worker) != cluster.host(worker - 1)) {
      owners_.push_back(worker);
    }
  }
  owners_.push_back(cluster.workers());
}

/// Charges the parts that workers send to owners: in round r, worker p sends to worker p + r.
template <class Real>
void RegionSums<Real>::scatter(const Cluster& cluster,
                               const ListBytes& bytes,
                               Ledger& ledger) const {
  const int workers = cluster.workers();
  for (int round = 1; round < workers; ++round) {
    for (int from = 0; from < workers; ++from) {
      const int to = (from + round) % workers;
      const auto bytes_here = [&] {
        return bytes_in(to, begin_in(cluster, from, to + 1) - begin_in(cluster, from, to), bytes);
      };
      ledger.carry(from, to, cluster.here(from) ? bytes_here() : 0);
    }
    ledger.end_round();
  }
}

/// Returns what all workers have in the regions of this process's workers, in worker order.
template <class Real>
Lists<Real> RegionSums<Real>::parts_of_regions_here(const Cluster& cluster, Lists<Real> mine) {
  if (cluster.world().size() == 1) {
    return mine;
  }
  const auto workers = static_cast<std::size_t>(cluster.workers());
  parts_.resize(std::max(parts_.size(), workers));
  pointers_.clear();
  for (std::size_t worker = 0; worker < workers; ++worker) {
    pointers_.push_back(&parts_[worker]);
  }
  pass_all(cluster, mine);
  return pointers_;
}

/// Passes all messages: in round r, a process sends to the r-th after it and receives from the r-th
/// before it, so that no link has to wait for another.
template <class Real>
void RegionSums<Real>::pass_all(const Cluster& cluster, Lists<Real> mine) {
  const std::size_t processes = owners_.size() - 1;
  const auto me = static_cast<std::size_t>(
      std::find(owners_.begin(), owners_.end(), cluster.first()) - owners_.begin());
  incoming_.clear();
  for (std::size_t round = 1; round < processes; ++round) {
    const std::size_t source = (me + processes - round) % processes;
    for (int worker = owners_[source]; worker < owners_[source + 1]; ++worker) {
      incoming_.push_back(number_of(worker, me));
    }
  }
  expected_ = 0;
  std::size_t received = 0;
  for (std::size_t round = 0; round < processes; ++round) {
    const std::size_t target = (me + round) % processes;
    const std::size_t source = (me + processes - round) % processes;
    const int from_source = round == 0 ? 0 : owners_[source + 1] - owners_[source];
    for (int i = 0; i < std::max(cluster.count(), from_source); ++i) {
      expect_ahead(cluster);
      if (i < cluster.count()) {
        pass(cluster, mine, number_of(cluster.first() + i, target));
      }
      if (i < from_source) {
        pass(cluster, mine, incoming_[received++]);
      }
    }
  }
}

/// Makes room for as many of the messages to come as the buffers take.
template <class Real>
void RegionSums<Real>::expect_ahead(const Cluster& cluster) {
  for (; expected_ < incoming_.size() && !buffers_.is_full(); ++expected_) {
    const std::size_t number = incoming_[expected_];
    const auto [from, to] = ends_of(number);
    cluster.post_receive(from, to, most_entries_of(number), buffers_);
  }
}

template <class Real>
std::size_t RegionSums<Real>::number_of(int from, std::size_t process) const {
  return static_cast<std::size_t>(from) * (owners_.size() - 1) + process;
}

/// Each worker sends one message to every process, with what it has in the regions there. Returns
/// its ends; messages are numbered by sender, then by process.
template <class Real>
Edge RegionSums<Real>::ends_of(std::size_t number) const {
  const std::size_t processes = owners_.size() - 1;
  return {.from = static_cast<int>(number / processes), .to = owners_[number % processes]};
}

/// Returns how many entries a message has at most. To tell the lengths first would cost every
/// worker log2 P messages more.
template <class Real>
std::size_t RegionSums<Real>::most_entries_of(std::size_t number) const {
  const std::size_t process = number % (owners_.size() - 1);
  const auto begin = [&](std::size_t i) {
    return region_begins_[static_cast<std::size_t>(owners_[i])];
  };
  return std::min(most_entries_, begin(process + 1) - begin(process));
}

template <class Real>
void RegionSums<Real>::pass(const Cluster& cluster, Lists<Real> mine, std::size_t number) {
  const auto [from, to] = ends_of(number);
  auto& part = cluster.here(to) ? parts_[static_cast<std::size_t>(from)] : outgoing_;
  if (cluster.here(from)) {
    const int end = owners_[number % (owners_.size() - 1) + 1];
    cut_out(
        *mine[cluster.slot(from)], begin_in(cluster, from, to), begin_in(cluster, from, end), part);
  }
  const auto* incoming = cluster.send_along(from, to, &part, buffers_);
  if (incoming != nullptr && incoming != &part) {
    copy(*incoming, part);
  }
}

template <class Real>
void RegionSums<Real>::divide_sum(const Cluster& cluster) {
  const auto count = static_cast<std::size_t>(cluster.count());
  const auto first = static_cast<std::size_t>(cluster.first());
  regions_.resize(count);
  sums_.clear();
  for (std::size_t slot = 0; slot < count; ++slot) {
    cut_out(sum_here_,
            position_of(sum_here_, region_begins_[first + slot]),
            position_of(sum_here_, region_begins_[first + slot + 1]),
            regions_[slot]);
    sums_.push_back(&regions_[slot]);
  }
}

template <class Real>
void RegionSums<Real>::gather(const Cluster& cluster, Lists<Real> mine, SparseVector<Real>& all) {
  std::size_t entries = 0;
  const auto lists = cluster.all_gather<Real>(mine, buffers_);
  for (const auto* list : lists) {
    entries += list->size();
  }
  all.clear();
  all.make_room(entries);
  for (const auto* list : lists) {
    all.indices.insert(all.indices.end(), list->indices.begin(), list->indices.end());
    all.values.insert(all.values.end(), list->values.begin(), list->values.end());
  }
}

template class RegionSums<float>;
template class RegionSums<double>;

}  // namespace residuum
