#include "core/cluster/part_world.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

namespace residuum {

PartWorld::PartWorld(World& whole, std::vector<int> ranks)
    : whole_(whole),
      ranks_(std::move(ranks)),
      rank_(static_cast<int>(std::find(ranks_.begin(), ranks_.end(), whole.rank()) -
                             ranks_.begin())) {
  assert(rank_ < size());
}

void PartWorld::broadcast(int root, std::span<std::byte> bytes) {
  if (rank_ != root) {
    receive(root, bytes);
    return;
  }
  for (int to = 0; to < size(); ++to) {
    if (to != root) {
      send(to, bytes);
    }
  }
}

/// Gathers on the first process, which then tells the others.
void PartWorld::all_gather(std::span<const std::byte> mine, Gathered& all) {
  std::vector<std::uint64_t> lengths(ranks_.size());
  const auto length_of = [&](int rank) {
    return std::as_writable_bytes(std::span(lengths).subspan(static_cast<std::size_t>(rank), 1));
  };
  lengths[static_cast<std::size_t>(rank_)] = mine.size();
  if (rank_ != 0) {
    send(0, length_of(rank_));
  }
  for (int from = 1; rank_ == 0 && from < size(); ++from) {
    receive(from, length_of(from));
  }
  broadcast(0, std::as_writable_bytes(std::span(lengths)));
  all.begins.assign(1, 0);
  for (const std::uint64_t length : lengths) {
    all.begins.push_back(all.begins.back() + length);
  }
  all.bytes.resize(all.begins.back());
  if (rank_ != 0) {
    send(0, mine);
  } else {
    std::copy(mine.begin(), mine.end(), all.bytes.begin());
  }
  for (int from = 1; rank_ == 0 && from < size(); ++from) {
    const auto part = static_cast<std::size_t>(from);
    receive(from, std::span(all.bytes).subspan(all.begins[part], lengths[part]));
  }
  broadcast(0, all.bytes);
}

std::int64_t PartWorld::minimum(std::int64_t mine) {
  Gathered all;
  all_gather(std::as_bytes(std::span(&mine, 1)), all);
  std::int64_t least = mine;
  for (std::size_t part = 0; part < all.parts(); ++part) {
    std::int64_t other = 0;
    std::memcpy(&other, all.part(part).data(), sizeof(other));
    least = std::min(least, other);
  }
  return least;
}

void PartWorld::abort(ExitCode code) {
  whole_.abort(code);
  std::abort();  // not reached, but the compiler asks for it
}

template <class Real>
void PartWorld::add_in_order(std::span<Real> numbers) {
  Gathered all;
  all_gather(std::as_bytes(numbers), all);
  std::vector<Real> others(numbers.size());
  std::fill(numbers.begin(), numbers.end(), Real{0});
  for (std::size_t part = 0; part < all.parts() && !others.empty(); ++part) {
    std::memcpy(others.data(), all.part(part).data(), all.part(part).size());
    std::transform(
        numbers.begin(), numbers.end(), others.begin(), numbers.begin(), std::plus<Real>());
  }
}

void PartWorld::add_up(std::span<float> numbers) { add_in_order(numbers); }
void PartWorld::add_up(std::span<double> numbers) { add_in_order(numbers); }

}  // namespace residuum
