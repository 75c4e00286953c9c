#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

#include "experiments/benchmarks/bench_network.h"

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

/// Returns the sum of the logarithms of the factors by which times are off, and notes the largest.
double add_up_errors(std::span<const double> bytes, std::span<const double> seconds, LinkFit& fit) {
  double sum = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const double time = fit.link.alpha_s + fit.link.beta_s_per_byte * bytes[i];
    if (time <= 0) {
      return std::numeric_limits<double>::infinity();
    }
    const double factor = std::max(time / seconds[i], seconds[i] / time);
    sum += std::log(factor);
    if (factor > fit.largest_factor) {
      fit.largest_factor = factor;
      fit.at_bytes = bytes[i];
    }
  }
  return sum;
}

}  // namespace

LinkFit fit_link(std::span<const double> bytes, std::span<const double> seconds) {
  LinkFit best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (std::size_t j = i + 1; j < bytes.size(); ++j) {
      const double beta = (seconds[j] - seconds[i]) / (bytes[j] - bytes[i]);
      LinkFit fit{.link = {.alpha_s = seconds[i] - beta * bytes[i], .beta_s_per_byte = beta}};
      const double sum = add_up_errors(bytes, seconds, fit);
      if (sum < least) {
        least = sum;
        best = fit;
      }
    }
  }
  return best;
}

std::vector<LinkFit> measure_link(World& world, int peer, int sweeps) {
  Bytes room(kMessageBytes.back());
  std::vector<LinkFit> fits;
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
