#include "core/cluster/cluster.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <utility>

#include "core/messages/wire.h"

namespace residuum {
namespace {

/// Reserves more than `size` bytes, rounded up, so that reallocation soon ends for messages that
/// vary in length.
void make_room(Bytes& bytes, std::size_t size) {
  constexpr std::size_t kLeast = 8192;
  bytes.reserve(std::bit_ceil(std::max(size, kLeast)));
  bytes.resize(std::max(bytes.size(), size));
}

/// Waiting for the receiver of a shorter message costs more than it saves: its time on the wire is
/// about that of an answer.
constexpr std::size_t kShortBytes = std::size_t{1} << 16;

}  // namespace

int ceil_log2(int n) {
  assert(n >= 1);
  return static_cast<int>(std::bit_width(static_cast<unsigned>(n) - 1));
}

Cluster::Cluster(World& world, int workers, Layout layout)
    : world_(&world),
      workers_(workers),
      layout_(std::move(layout)),
      first_(begin_of(world.rank())),
      count_(begin_of(world.rank() + 1) - first_) {}

Cluster::Cluster(World& world, int workers) : Cluster(world, workers, Layout{}) {
  require(workers >= 1, "'workers.count' must be at least 1, got {}", workers);
  require(world.size() <= workers,
          "{} processes for {} workers: start at most as many processes as 'workers.count', or "
          "divide them into more --groups",
          world.size(),
          workers);
}

Cluster Cluster::with_server(World& world, int workers, int per_node) {
  require(workers >= 1, "'workers.count' must be at least 1, got {}", workers);
  const int nodes = workers / per_node;
  const std::string parts =
      fmt::format("{} {}{}", nodes, per_node > 1 ? "node" : "worker", nodes == 1 ? "" : "s");
  const std::string fewer = nodes == 1 ? "" : ", or with as few as 2 processes";
  require(world.size() >= 2,
          "protocol.execution = \"real\" needs a process for the server and at least one for the "
          "{}; start it with mpirun -n {}{}",
          parts,
          nodes + 1,
          fewer);
  require(world.size() <= nodes + 1,
          "{} processes are too many for protocol.execution = \"real\" with {}: one process is the "
          "server; start it with mpirun -n {}{}",
          world.size(),
          parts,
          nodes + 1,
          fewer);
  return {world, workers, Layout{.server = 1, .per_node = per_node}};
}

Cluster Cluster::with_blocks(World& world, std::vector<int> begins) {
  assert(begins.size() == static_cast<std::size_t>(world.size()) + 1);
  const int workers = begins.back();
  return {world, workers, Layout{.begins = std::move(begins)}};
}

int Cluster::begin_of(int rank) const {
  if (has_own_blocks()) {
    return layout_.begins[static_cast<std::size_t>(rank)];
  }
  const std::int64_t nodes = workers_ / layout_.per_node;
  const std::int64_t before = std::max(rank - layout_.server, 0);
  return static_cast<int>(before * nodes / (world_->size() - layout_.server)) * layout_.per_node;
}

int Cluster::host(int worker) const {
  if (has_own_blocks()) {
    const auto& begins = layout_.begins;
    const auto after = std::upper_bound(begins.begin(), begins.end(), worker);
    return static_cast<int>(after - begins.begin()) - 1;
  }
  const std::int64_t nodes = workers_ / layout_.per_node;
  const std::int64_t next = worker / layout_.per_node + 1;
  return layout_.server + static_cast<int>((next * (world_->size() - layout_.server) - 1) / nodes);
}

template <class Real>
void Cluster::post_receive(int from,
                           int to,
                           std::size_t most_entries,
                           ReceiveBuffers<Real>& buffers) const {
  if (here(from) || !here(to)) {
    return;
  }
  assert(!buffers.is_full());
  const std::size_t size = packed_bytes<Real>(most_entries);
  Bytes& room = buffers.rooms[buffers.posted++ % buffers.kRooms];
  make_room(room, size);
  world_->post(host(from), std::span(room).first(size));
}

template <class Real>
const SparseVector<Real>* Cluster::send_along(int from,
                                              int to,
                                              const SparseVector<Real>* message,
                                              ReceiveBuffers<Real>& buffers) const {
  if (here(from) && here(to)) {
    return message;
  }
  if (here(from)) {
    const std::size_t size = packed_bytes<Real>(message->size());
    make_room(buffers.packed, size);
    pack(*message, buffers.packed.data());
    world_->send(host(to), std::span(buffers.packed).first(size));
    return nullptr;
  }
  if (here(to)) {
    assert(buffers.received < buffers.posted);
    const Bytes& room = buffers.rooms[buffers.received++ % buffers.kRooms];
    unpack(std::span(room).first(world_->take(host(from))), buffers.unpacked);
    return &buffers.unpacked;
  }
  return nullptr;
}

template <class Real>
void Cluster::broadcast(int from,
                        std::size_t most_entries,
                        SparseVector<Real>& vector,
                        ReceiveBuffers<Real>& buffers) const {
  if (world_->size() == 1) {
    return;
  }
  assert(!here(from) || vector.size() <= most_entries);
  make_room(buffers.packed, packed_bytes<Real>(most_entries));
  if (here(from)) {
    pack(vector, buffers.packed.data());
    pass_down(host(from), std::span(buffers.packed).first(packed_bytes<Real>(vector.size())));
    return;
  }
  const auto room = std::span(buffers.packed).first(packed_bytes<Real>(most_entries));
  unpack(pass_down(host(from), room), vector);
}

/// Passes the message of the process `root` down the tree; the result is the message in `room`.
std::span<std::byte> Cluster::pass_down(int root, std::span<std::byte> room) const {
  const int processes = world_->size();
  if (processes == 1) {
    return room;
  }
  const int position = (world_->rank() - root + processes) % processes;
  const auto rank_of = [&](int at) { return (at + root) % processes; };
  std::span<std::byte> message = room;
  std::byte has_arrived{};
  for (int stride = 1 << (ceil_log2(processes) - 1); stride > 0; stride /= 2) {
    const auto is_waited_for = [&] {
      return stride > 1 && message.size() > kShortBytes && !world_->sends_wait();
    };
    if (position % (2 * stride) == stride) {
      const int parent = rank_of(position - stride);
      world_->post(parent, room);
      message = room.first(world_->take(parent));
      if (is_waited_for()) {
        world_->send(parent, std::span(&has_arrived, 1));
      }
    } else if (position % (2 * stride) == 0 && position + stride < processes) {
      const int child = rank_of(position + stride);
      world_->send(child, message);
      if (is_waited_for()) {
        world_->receive(child, std::span(&has_arrived, 1));
      }
    }
  }
  return message;
}

template <class Real>
Lists<Real> Cluster::all_gather(Lists<Real> mine, ReceiveBuffers<Real>& buffers) const {
  if (world_->size() == 1) {
    return mine;
  }
  std::size_t size = 0;
  for (const auto* vector : mine) {
    size += kLengthBytes + packed_bytes<Real>(vector->size());
  }
  make_room(buffers.packed, size);
  std::byte* target = buffers.packed.data();
  for (const auto* vector : mine) {
    target = pack_with_length(*vector, target);
  }
  make_room(buffers.gathered.bytes, size * static_cast<std::size_t>(world_->size()));
  world_->all_gather(std::span(buffers.packed).first(size), buffers.gathered);
  buffers.lists.resize(static_cast<std::size_t>(workers_));
  buffers.all.clear();
  for (std::size_t rank = 0; rank < buffers.gathered.parts(); ++rank) {
    for (auto part = buffers.gathered.part(rank); !part.empty();) {
      auto& list = buffers.lists[buffers.all.size()];
      part = unpack_with_length<Real>(part, list);
      buffers.all.push_back(&list);
    }
  }
  assert(buffers.all.size() == buffers.lists.size());
  return buffers.all;
}

std::vector<double> Cluster::all_gather(std::span<const double> mine) const {
  if (world_->size() == 1) {
    return {mine.begin(), mine.end()};
  }
  Gathered all;
  world_->all_gather(std::as_bytes(mine), all);
  std::vector<double> numbers(all.bytes.size() / sizeof(double));
  if (!numbers.empty()) {
    std::memcpy(numbers.data(), all.bytes.data(), all.bytes.size());
  }
  return numbers;
}

void Cluster::start_block(std::span<std::byte> sum, std::size_t begin) const {
  const int rank = world_->rank();
  if (rank == 0) {
    const auto block = block_of(sum, begin);
    std::fill(block.begin(), block.end(), std::byte{0});  // all bits zero is +0
    return;
  }
  if (begin == 0) {
    world_->post(rank - 1, block_of(sum, 0));
  }
  [[maybe_unused]] const std::size_t length = world_->take(rank - 1);
  assert(length == block_of(sum, begin).size());
  if (begin + kBlockBytes < sum.size()) {
    world_->post(rank - 1, block_of(sum, begin + kBlockBytes));  // arrives during the additions
  }
}

void Cluster::pass_on(std::span<std::byte> sum, std::size_t begin, bool everywhere) const {
  const int rank = world_->rank();
  const int last = world_->size() - 1;
  const auto block = block_of(sum, begin);
  if (rank < last) {
    world_->send(rank + 1, block);
    if (rank == 0 && !everywhere) {
      world_->post(last, block);  // the finished block comes back to here
      if (begin / kBlockBytes >= most_under_way()) {
        world_->take(last);
      }
    }
  } else if (rank > 0 && !everywhere) {
    world_->send(0, block);
  }
}

void Cluster::finish_sum(std::span<std::byte> sum, bool everywhere) const {
  const int last = world_->size() - 1;
  if (last == 0) {
    return;
  }
  if (everywhere) {
    world_->broadcast(last, sum);
  } else if (world_->is_root()) {
    const std::size_t blocks = (sum.size() + kBlockBytes - 1) / kBlockBytes;
    for (std::size_t left = std::min(blocks, most_under_way()); left > 0; --left) {
      world_->take(last);
    }
  }
}

template void Cluster::post_receive<float>(int, int, std::size_t, ReceiveBuffers<float>&) const;
template const SparseVector<float>* Cluster::send_along<float>(int,
                                                               int,
                                                               const SparseVector<float>*,
                                                               ReceiveBuffers<float>&) const;
template void Cluster::broadcast<float>(int,
                                        std::size_t,
                                        SparseVector<float>&,
                                        ReceiveBuffers<float>&) const;
template Lists<float> Cluster::all_gather<float>(Lists<float>, ReceiveBuffers<float>&) const;
template void Cluster::post_receive<double>(int, int, std::size_t, ReceiveBuffers<double>&) const;
template const SparseVector<double>* Cluster::send_along<double>(int,
                                                                 int,
                                                                 const SparseVector<double>*,
                                                                 ReceiveBuffers<double>&) const;
template void Cluster::broadcast<double>(int,
                                         std::size_t,
                                         SparseVector<double>&,
                                         ReceiveBuffers<double>&) const;
template Lists<double> Cluster::all_gather<double>(Lists<double>, ReceiveBuffers<double>&) const;

}  // namespace residuum
