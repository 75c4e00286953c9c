#include "experiments/benchmarks/link_fit.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace residuum {
namespace {

constexpr std::array<std::size_t, 9> kMessageBytes{
    8, 64, 512, 4096, 16384, 65536, 262144, 1 << 20, 4 << 20};

/// Returns how many round trips are timed together: short ones take less than the clock resolves.
int trips_of(std::size_t bytes) {
  constexpr std::size_t kTogether = 1 << 16;
  constexpr std::size_t kMost = 50;
  return static_cast<int>(std::clamp<std::size_t>(kTogether / bytes, 1, kMost));
}

void go_to_and_fro(World& world, int peer, std::span<std::byte> message, int trips) {
  for (int trip = 0; trip < trips; ++trip) {
    if (world.is_root()) {
      world.send(peer, message);
      world.receive(peer, message);
    } else if (world.rank() == peer) {
      world.receive(0, message);
      world.send(0, message);
    }
  }
}

/// Returns the seconds of one message of this size, on the root.
double seconds_of(World& world, int peer, std::span<std::byte> message) {
  const int trips = trips_of(message.size());
  go_to_and_fro(world, peer, message, 1);  // connections are made, and both are awake
  const auto begin = std::chrono::steady_clock::now();
  go_to_and_fro(world, peer, message, trips);
  const std::chrono::duration<double> both_ways = std::chrono::steady_clock::now() - begin;
  return both_ways.count() / (2 * trips);
}

}  // namespace

LinkModel fit_link(std::span<const double> bytes, std::span<const double> seconds) {
  // With a = 1/t and b = n/t the model is alpha a + beta b = 1.
  double aa = 0;
  double ab = 0;
  double bb = 0;
  double a1 = 0;
  double b1 = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double a = 1 / seconds[i];
    const double b = bytes[i] / seconds[i];
    aa += a * a;
    ab += a * b;
    bb += b * b;
    a1 += a;
    b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  return {.alpha_s = (a1 * bb - b1 * ab) / determinant,
          .beta_s_per_byte = (b1 * aa - a1 * ab) / determinant};
}

std::vector<LinkModel> measure_link(World& world, int peer, int sweeps) {
  Bytes room(kMessageBytes.back());
  std::vector<LinkModel> fits;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    std::vector<double> bytes;
    std::vector<double> seconds;
    for (const std::size_t size : kMessageBytes) {
      bytes.push_back(static_cast<double>(size));
      seconds.push_back(seconds_of(world, peer, std::span(room).first(size)));
    }
    if (world.is_root()) {
      fits.push_back(fit_link(bytes, seconds));
    }
  }
  return fits;
}

}  // namespace residuum
