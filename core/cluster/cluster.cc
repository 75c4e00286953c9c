#include "core/cluster/cluster.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace residuum {
namespace {

template <class T>
std::span<const std::byte> bytes_of(std::span<const T> values) {
  return std::as_bytes(values);
}

template <class T>
void copy_from(std::span<const std::byte> bytes, std::vector<T>& values) {
  values.resize(bytes.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  }
}

void append(Bytes& target, std::span<const std::byte> bytes) {
  target.insert(target.end(), bytes.begin(), bytes.end());
}

/// Indices, then values; the number of entries follows from the length.
template <class Real>
void append(Bytes& target, const SparseVector<Real>& vector) {
  append(target, bytes_of(std::span<const std::uint32_t>(vector.indices)));
  append(target, bytes_of(std::span<const Real>(vector.values)));
}

template <class Real>
void read(std::span<const std::byte> bytes, SparseVector<Real>& vector) {
  const std::size_t entries = bytes.size() / entry_bytes<Real>();
  assert(entries * entry_bytes<Real>() == bytes.size());
  copy_from(bytes.first(entries * sizeof(std::uint32_t)), vector.indices);
  copy_from(bytes.subspan(entries * sizeof(std::uint32_t)), vector.values);
}

/// Splits what one process sent: a 64-bit length before each of its workers' vectors.
template <class Real>
void read_all(std::span<const std::byte> bytes, std::vector<SparseVector<Real>>& vectors) {
  while (!bytes.empty()) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof(length));
    read(bytes.subspan(sizeof(length), length), vectors.emplace_back());
    bytes = bytes.subspan(sizeof(length) + length);
  }
}

}  // namespace

int ceil_log2(int n) {
  assert(n >= 1);
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n) - 1));
}

Cluster::Cluster(World& world, int workers) : world_(&world), workers_(workers) {
  require(workers >= 1, "'workers.count' must be at least 1, got {}", workers);
  require(world.size() <= workers,
          "{} processes for {} workers: start at most as many processes as 'workers.count'",
          world.size(),
          workers);
  const auto begin_of = [&](std::int64_t rank) {
    return static_cast<int>(rank * workers / world.size());
  };
  first_ = begin_of(world.rank());
  count_ = begin_of(world.rank() + 1) - first_;
}

int Cluster::host(int worker) const {
  const std::int64_t next = worker + 1;
  return static_cast<int>((next * world_->size() - 1) / workers_);
}

template <class Real>
const SparseVector<Real>* Cluster::deliver(int from,
                                           int to,
                                           const SparseVector<Real>* message,
                                           SparseVector<Real>& buffer) const {
  if (here(from) && here(to)) {
    return message;
  }
  if (here(from)) {
    Bytes bytes;
    append(bytes, *message);
    world_->send(host(to), bytes);
    return nullptr;
  }
  if (here(to)) {
    read(world_->receive(host(from)), buffer);
    return &buffer;
  }
  return nullptr;
}

template <class Real>
void Cluster::broadcast(int from, SparseVector<Real>& vector) const {
  if (world_->size() == 1) {
    return;
  }
  Bytes bytes;
  if (here(from)) {
    append(bytes, vector);
  }
  world_->broadcast(host(from), bytes);
  if (!here(from)) {
    read(bytes, vector);
  }
}

template <class Real>
std::vector<SparseVector<Real>> Cluster::all_gather(
    std::span<const SparseVector<Real>> mine) const {
  if (world_->size() == 1) {
    return {mine.begin(), mine.end()};
  }
  Bytes bytes;
  for (const auto& vector : mine) {
    const std::uint64_t length = vector.size() * entry_bytes<Real>();
    append(bytes, std::as_bytes(std::span(&length, 1)));
    append(bytes, vector);
  }
  std::vector<SparseVector<Real>> vectors;
  for (const Bytes& part : world_->all_gather(bytes)) {
    read_all(part, vectors);
  }
  return vectors;
}

std::vector<double> Cluster::all_gather(std::span<const double> mine) const {
  if (world_->size() == 1) {
    return {mine.begin(), mine.end()};
  }
  std::vector<double> numbers;
  for (const Bytes& part : world_->all_gather(bytes_of(mine))) {
    std::vector<double> of_process;
    copy_from<double>(part, of_process);
    numbers.insert(numbers.end(), of_process.begin(), of_process.end());
  }
  return numbers;
}

template <class T>
void Cluster::sum_in_worker_order(
    std::span<T> sum,
    bool everywhere,
    const std::function<void(int worker, std::span<T> sum)>& add) const {
  const int rank = world_->rank();
  const int last = world_->size() - 1;
  const auto receive = [&](int from) {
    const Bytes bytes = world_->receive(from);
    assert(bytes.size() == sum.size_bytes());
    if (!bytes.empty()) {
      std::memcpy(sum.data(), bytes.data(), bytes.size());
    }
  };
  if (rank == 0) {
    std::fill(sum.begin(), sum.end(), T{0});
  } else {
    receive(rank - 1);
  }
  for (int worker = first_; worker < first_ + count_; ++worker) {
    add(worker, sum);
  }
  if (last == 0) {
    return;
  }
  const auto bytes = std::as_bytes(std::span<const T>(sum));
  if (rank < last) {
    world_->send(rank + 1, bytes);
  }
  if (everywhere) {
    Bytes whole(bytes.begin(), bytes.end());
    world_->broadcast(last, whole);
    if (!whole.empty()) {
      std::memcpy(sum.data(), whole.data(), whole.size());
    }
  } else if (rank == last) {
    world_->send(0, bytes);
  } else if (rank == 0) {
    receive(last);
  }
}

template const SparseVector<float>* Cluster::deliver<float>(int,
                                                            int,
                                                            const SparseVector<float>*,
                                                            SparseVector<float>&) const;
template const SparseVector<double>* Cluster::deliver<double>(int,
                                                              int,
                                                              const SparseVector<double>*,
                                                              SparseVector<double>&) const;
template void Cluster::broadcast<float>(int, SparseVector<float>&) const;
template void Cluster::broadcast<double>(int, SparseVector<double>&) const;
template std::vector<SparseVector<float>> Cluster::all_gather<float>(
    std::span<const SparseVector<float>>) const;
template std::vector<SparseVector<double>> Cluster::all_gather<double>(
    std::span<const SparseVector<double>>) const;
template void Cluster::sum_in_worker_order<float>(
    std::span<float>, bool, const std::function<void(int, std::span<float>)>&) const;
template void Cluster::sum_in_worker_order<double>(
    std::span<double>, bool, const std::function<void(int, std::span<double>)>&) const;

}  // namespace residuum
