#include "reports/analysis/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

/// Returns the number of gradients in a version: those of all workers that take part, H of each.
std::optional<double> gradients_of_version(const Run& run) {
  const RunFacts& facts = run.facts;
  if (facts.protocol.synchrony == Synchrony::late) {
    return facts.protocol.contributions;
  }
  return facts.taking_part() * static_cast<double>(facts.protocol.local_steps);
}

/// Returns the samples of every finished run, in all its iterations or in one.
std::vector<std::optional<double>> samples_of(const ResultFolder& folder,
                                              const Field& field,
                                              bool of_all_iterations) {
  std::vector<std::optional<double>> samples;
  for (const auto& runs : field.runs) {
    for (const std::size_t i : runs) {
      auto one = samples_of_iteration(folder.runs[i]);
      const auto iterations = number_at(folder.runs[i].status, "iterations");
      if (of_all_iterations && one) {
        one = iterations ? std::optional(*one * *iterations) : std::nullopt;
      }
      samples.push_back(one);
    }
  }
  return samples;
}

}  // namespace

std::optional<double> samples_of_iteration(const Run& run) {
  const auto gradients = gradients_of_version(run);
  if (!gradients) {
    return std::nullopt;
  }
  const double accumulated = number_at(run.config, "config.workers.accumulate").value_or(1);
  const double count = run.facts.workers;
  if (text_at(run.config, "config.workers.batch") == "full") {
    // Whole shards are all samples once every worker has taken one gradient.
    return *gradients / count * run.facts.objective.samples.value_or(count) * accumulated;
  }
  return *gradients * number_at(run.config, "config.workers.batch").value_or(1) * accumulated;
}

std::string unequal_iterations(const ResultFolder& folder, const Field& field) {
  const auto samples = samples_of(folder, field, /*of_all_iterations=*/false);
  if (samples.empty() || std::equal(samples.begin() + 1, samples.end(), samples.begin())) {
    return {};
  }
  if (std::find(samples.begin(), samples.end(), std::nullopt) != samples.end()) {
    return "an iteration takes more samples or fewer";
  }
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  return fmt::format(
      "an iteration takes {} to {} samples, by method", short_number(*least), short_number(*most));
}

bool took_equal_samples(const ResultFolder& folder, const Field& field) {
  constexpr double kApart = 1.05;  // epochs end within an iteration
  const auto samples = samples_of(folder, field, /*of_all_iterations=*/true);
  if (samples.empty()) {
    return true;
  }
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  return *least == *most || (*least && **most <= kApart * **least);
}

}  // namespace residuum::reports
