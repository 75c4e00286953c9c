#include "reports/figures/target_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "reports/analysis/words.h"

namespace residuum::reports {
namespace {

/// CostWords are the names of a cost in a figure.
struct CostWords {
  std::string_view cost;
  std::string_view file;
  std::string_view axis;
};
constexpr std::array<CostWords, 3> kCostWords{{{"iterations", "ecdf-iterations", "iterations"},
                                               {"bytes", "ecdf-bytes", "bytes sent"},
                                               {"modelled time", "ecdf-time", "modelled time, s"}}};

const CostWords& words_of(const TargetComparison& comparison) {
  return *std::find_if(kCostWords.begin(), kCostWords.end(), [&](const CostWords& one) {
    return one.cost == comparison.cost;
  });
}

std::string caption_of(const TargetComparison& comparison) {
  const bool is_gap = comparison.quantity == "loss_gap";
  return fmt::format(
      "The share of all pairs of a seed and a target that were reached, against what the run had "
      "spent by then, on {}. {} targets of {}, {} to {} in equal {}: below the first value of "
      "every run, down to the best of any. A run that ends, diverges or fails before a target has "
      "missed it, and counts; a line ends where its longest run ended. {}",
      comparison.objective,
      comparison.targets.size(),
      is_gap ? "f − f*" : "f",
      short_number(comparison.targets.front()),
      short_number(comparison.targets.back()),
      is_gap ? "ratios" : "steps",
      comparison.resolution_words());
}

std::vector<Curve> curves_of(const TargetComparison& comparison,
                             const std::vector<Group>& groups,
                             const Facet& facet) {
  std::vector<Curve> curves;
  for (std::size_t i = 0; i < facet.groups.size(); ++i) {
    const auto method = std::find_if(
        comparison.methods.begin(), comparison.methods.end(), [&](const TargetCosts& one) {
          return one.group == facet.groups[i];
        });
    if (method != comparison.methods.end()) {
      curves.push_back({.label = groups[facet.groups[i]].label,
                        .style = facet.styles[i],
                        .points = share_reached(*method),
                        .group = facet.groups[i]});
    }
  }
  return curves;
}

}  // namespace

std::vector<ReportFigure> plan_target_figures(const ResultFolder& folder,
                                              const std::vector<Group>& groups,
                                              const std::vector<TargetComparison>& comparisons) {
  auto facets = split_into_facets(folder, groups);
  facets.resize(std::min(facets.size(), kMostFacets));
  std::map<std::string_view, std::size_t> count;
  std::vector<ReportFigure> figures;
  for (const auto& comparison : comparisons) {
    for (const auto& facet : facets) {
      auto curves = curves_of(comparison, groups, facet);
      if (curves.empty()) {
        continue;
      }
      const CostWords& words = words_of(comparison);
      const std::size_t number = ++count[words.file];
      ReportFigure figure;
      figure.title = fmt::format("Targets reached by {}{}{}",
                                 comparison.cost,
                                 facet.title.empty() ? "" : " — ",
                                 facet.title);
      figure.caption = caption_of(comparison);
      figure.spec.name =
          number == 1 ? std::string(words.file) : fmt::format("{}-{}", words.file, number);
      figure.spec.x_label = std::string(words.axis);
      figure.spec.y_label = "share of seeds × targets";
      figure.spec.x_scale = Scale::log;
      figure.spec.curves = std::move(curves);
      figures.push_back(std::move(figure));
    }
  }
  return figures;
}

}  // namespace residuum::reports
