#include "experiments/benchmarks/bench_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <vector>

#include "reports/analysis/statistics.h"
#include "reports/results/files.h"

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

namespace {

constexpr int kSweeps = 11;

/// A number of a link over the sweeps.
struct LinkNumber {
  double median = 0;
  double spread = 0;  // interquartile range over median
  Interval interval;  // 95 %, of the mean
};

struct MeasuredLink {
  int peer = 0;
  LinkNumber alpha_s;
  LinkNumber beta_s_per_byte;
  LinkFit worst;  // of the sweeps
};

LinkNumber number_of(const std::vector<LinkFit>& fits, double LinkModel::*member) {
  std::vector<double> values;
  values.reserve(fits.size());
  for (const LinkFit& fit : fits) {
    values.push_back(fit.link.*member);
  }
  const auto spread = reports::spread_of(values);
  const double median = spread.median.value_or(0);
  return {
      .median = median,
      .spread = (spread.upper_quartile.value_or(0) - spread.lower_quartile.value_or(0)) / median,
      .interval = spread.interval.value_or(Interval{})};
}

reports::Json entry_of(const MeasuredLink& link,
                       const char* what,
                       const LinkNumber& number,
                       const char* unit) {
  return {{"id", ""},
          {"name", fmt::format("{} between ranks 0 and {}", what, link.peer)},
          {"value", number.median},
          {"unit", unit},
          {"baseline", ""},
          {"ratio", nullptr},
          {"target", nullptr},
          {"met", nullptr},
          {"spread", number.spread},
          {"interval", {number.interval.low, number.interval.high}},
          {"n", kSweeps},
          {"largest_factor", link.worst.largest_factor}};
}

void print(const std::vector<MeasuredLink>& links) {
  for (const auto& [peer, alpha, beta, worst] : links) {
    fmt::print(
        "ranks 0 and {:<4} alpha {:.4g} s [{:.4g}, {:.4g}]  beta {:.4g} s/byte [{:.4g}, {:.4g}]  "
        "off by a factor of at most {:.2f}, at {:.0f} bytes\n",
        peer,
        alpha.median,
        alpha.interval.low,
        alpha.interval.high,
        beta.median,
        beta.interval.low,
        beta.interval.high,
        worst.largest_factor,
        worst.at_bytes);
  }
  const auto slowest =
      *std::max_element(links.begin(), links.end(), [](const auto& a, const auto& b) {
        return a.beta_s_per_byte.median < b.beta_s_per_byte.median;
      });
  fmt::print(
      "medians of {} sweeps and 95 % intervals of the mean; a sweep sends 8 bytes to 4 MiB to "
      "and fro\nfor a study, the link with the lowest rate:\n"
      "[network]\nmodel = {{ alpha_s = {:.4g}, beta_s_per_byte = {:.4g} }}\n",
      kSweeps,
      std::max(0.0, slowest.alpha_s.median),
      std::max(0.0, slowest.beta_s_per_byte.median));
}

}  // namespace

void bench_network(const Options& options, World& world) {
  require(world.size() > 1,
          "a network has at least two ends: start 'mpirun -n 2 residuum bench network', on as many "
          "machines as you have");
  std::vector<MeasuredLink> links;
  for (int peer = 1; peer < world.size(); ++peer) {
    const auto fits = measure_link(world, peer, kSweeps);
    if (world.is_root()) {
      links.push_back(
          {.peer = peer,
           .alpha_s = number_of(fits, &LinkModel::alpha_s),
           .beta_s_per_byte = number_of(fits, &LinkModel::beta_s_per_byte),
           .worst = *std::max_element(fits.begin(), fits.end(), [](const auto& a, const auto& b) {
             return a.largest_factor < b.largest_factor;
           })});
    }
  }
  if (!world.is_root()) {
    return;
  }
  if (!options.json) {
    print(links);
    return;
  }
  auto list = reports::Json::array();
  for (const auto& link : links) {
    list.push_back(entry_of(link, "alpha", link.alpha_s, "s"));
    list.push_back(entry_of(link, "beta", link.beta_s_per_byte, "s/byte"));
  }
  fmt::print("{}\n", list.dump(2));
}

}  // namespace residuum
