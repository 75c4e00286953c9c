#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>

#include "reports/analysis/study_numbers.h"

namespace residuum::reports {
namespace {

struct Axis {
  std::string_view key;   // in `varying`
  std::string_view path;  // in config.json
  std::string_view section;
  std::string_view name;
};
constexpr std::array<Axis, 2> kAxes{
    {{"budget.iterations", "config.budget.iterations", "budget", "iterations"},
     {"workers.count", "config.workers.count", "workers", "count"}}};

/// The groups that are one method but for the axis.
struct Family {
  std::string label;
  std::map<double, std::size_t> groups;  // by the axis
};

/// Returns the configuration without the axis, as a text that equal ones share.
std::string rest_of(const Run& run, const Axis& axis) {
  nlohmann::json config = value_at(run.config, "config");
  config.at(std::string(axis.section)).erase(std::string(axis.name));
  return config.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Family> families_of(const ResultFolder& folder,
                                const std::vector<Group>& groups,
                                const Axis& axis) {
  std::vector<Family> families;
  std::map<std::string, std::size_t> place;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const Run& run = folder.runs[groups[g].runs.front()];
    const auto at = number_at(run.config, axis.path);
    if (!at) {
      continue;
    }
    const auto [found, is_new] = place.emplace(rest_of(run, axis), families.size());
    if (is_new) {
      families.push_back({.label = method_label(run, axis.key), .groups = {}});
    }
    families[found->second].groups.emplace(*at, g);
  }
  return families;
}

/// Returns X_T of a group's finished runs, by seed.
std::map<std::int64_t, double> averages_of(const ResultFolder& folder, const Group& group) {
  std::map<std::int64_t, double> averages;
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    const auto average = number_at(run.status, "totals.average_grad_norm_sq");
    if (run.state == "finished" && average) {
      averages.emplace(run.seed, *average);
    }
  }
  return averages;
}

/// Adds the seeds of a group whose runs did not come to their end.
void add_unended(const ResultFolder& folder, const Group& group, std::set<std::int64_t>& seeds) {
  for (const std::size_t i : group.runs) {
    const Run& run = folder.runs[i];
    if (run.state == "diverged" || run.state == "failed" || run.state == "interrupted") {
      seeds.insert(run.seed);
    }
  }
}

Rate fit(const ResultFolder& folder,
         const std::vector<Group>& groups,
         const Axis& axis,
         const Family& family) {
  Rate rate{.key = axis.key, .label = family.label, .x = {}, .slope = {}};
  std::map<std::int64_t, std::vector<double>> by_seed;
  std::set<std::int64_t> unended;
  for (const auto& [x, group] : family.groups) {
    add_unended(folder, groups[group], unended);
    for (const auto& [seed, average] : averages_of(folder, groups[group])) {
      auto& values = by_seed[seed];
      if (values.size() == rate.x.size()) {  // the seed has finished at all values so far
        values.push_back(average);
      }
    }
    rate.x.push_back(x);
  }
  std::vector<double> slopes;
  for (const auto& [seed, values] : by_seed) {
    if (values.size() != rate.x.size()) {
      continue;
    }
    if (const auto slope = log_log_slope(rate.x, values)) {
      slopes.push_back(*slope);
    }
  }
  rate.slope = spread_of(slopes);
  rate.unended = unended.size();
  return rate;
}

}  // namespace

std::optional<double> log_log_slope(const std::vector<double>& x, const std::vector<double>& y) {
  if (x.size() < 2 || std::equal(x.begin() + 1, x.end(), x.begin())) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(x.size());
  double mean_x = 0;
  double mean_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > 0) || !(y[i] > 0) || !std::isfinite(x[i]) || !std::isfinite(y[i])) {
      return std::nullopt;
    }
    mean_x += std::log(x[i]) / n;
    mean_y += std::log(y[i]) / n;
  }
  double covariance = 0;
  double variance = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double dx = std::log(x[i]) - mean_x;
    covariance += dx * (std::log(y[i]) - mean_y);
    variance += dx * dx;
  }
  return covariance / variance;
}

std::vector<Rate> fit_rates(const ResultFolder& folder, const std::vector<Group>& groups) {
  std::vector<Rate> rates;
  for (const auto& axis : kAxes) {
    for (const auto& family : families_of(folder, groups, axis)) {
      if (family.groups.size() >= 2) {
        rates.push_back(fit(folder, groups, axis, family));
      }
    }
  }
  return rates;
}

std::string note_on(const Rate& rate) {
  std::string note;
  if (rate.unended > 0) {
    note = fmt::format("without {} seed{} that diverged, failed or {} cut",
                       rate.unended,
                       rate.unended == 1 ? "" : "s",
                       rate.unended == 1 ? "was" : "were");
  }
  const std::string_view why =
      rate.slope.n == 0   ? "no seed has X_T at all values: it needs every iteration measured and "
                            "evaluated"
      : rate.slope.n == 1 ? "one seed: no interval"
                          : "";
  return note + (note.empty() || why.empty() ? "" : "; ") + std::string(why);
}

}  // namespace residuum::reports
