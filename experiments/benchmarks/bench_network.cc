#include "experiments/benchmarks/bench_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/analysis/statistics.h"
#include "reports/results/files.h"

namespace residuum {
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
