#include "reports/page/figure_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "core/error.h"
#include "reports/figures/drawn_quantities.h"
#include "reports/figures/target_figures.h"
#include "reports/page/sections.h"
#include "reports/verdicts/delta_workers.h"
#include "reports/verdicts/summary.h"

namespace residuum::reports {
namespace {

/// Splits at commas, and takes blanks off both ends of each part.
std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    std::string_view part = list.substr(begin, end - begin);
    part.remove_prefix(std::min(part.size(), part.find_first_not_of(' ')));
    part = part.substr(0, part.find_last_not_of(' ') + 1);
    parts.emplace_back(part);
    begin = end + 1;
  }
  return parts;
}

/// Returns how many of the parts, from the first on, make a known label; 0 for none.
std::size_t longest_label(const std::vector<std::string>& parts,
                          std::size_t first,
                          const std::vector<std::vector<std::string>>& known) {
  std::size_t longest = 0;
  for (const auto& label : known) {
    const bool is_there =
        label.size() <= parts.size() - first &&
        std::equal(label.begin(), label.end(), parts.begin() + static_cast<std::ptrdiff_t>(first));
    longest = is_there ? std::max(longest, label.size()) : longest;
  }
  return longest;
}

/// Says that no label begins with the part, and which label is near it and the parts behind it.
std::string unknown_label(const std::vector<std::string>& parts,
                          std::size_t first,
                          const std::vector<std::string>& known) {
  std::string text;
  for (std::size_t i = first; i < parts.size(); ++i) {
    text += (text.empty() ? "" : ", ") + parts[i];
    if (const std::string near = nearest(text, known); !near.empty()) {
      return fmt::format("unknown method '{}'; did you mean '{}'?", text, near);
    }
  }
  return fmt::format("unknown method '{}'; known: '{}'", parts[first], fmt::join(known, "', '"));
}

/// Returns the quantity of that name against the iteration; null where it is none.
const DrawnQuantity* find_quantity(std::string_view name) {
  const auto quantities = drawn_quantities();
  const auto found =
      std::find_if(quantities.begin(), quantities.end(), [&](const DrawnQuantity& one) {
        return one.name == name && !one.against;
      });
  return found == quantities.end() ? nullptr : &*found;
}

const FigureAxis& find_axis(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& axis : figure_axes()) {
    if (axis.name == name) {
      return axis;
    }
    known.emplace_back(axis.name);
  }
  usage_error("--by: unknown axis '{}'{}", name, suggestion(name, known));
}

/// Returns the figures of the report that have an axis of their own.
std::vector<ReportFigure> figures_with_own_axis(const Summary& summary, IntervalKind kind) {
  std::vector<ReportFigure> figures;
  const auto add = [&](std::vector<ReportFigure> some) {
    std::move(some.begin(), some.end(), std::back_inserter(figures));
  };
  add(plan_bound_figures(summary));
  add(plan_end_figures(summary, kind));
  add(plan_target_figures(summary.folder, groups_of(summary), summary.targets));
  add(plan_workers_figures(delta_against_workers(summary), kind));
  add(plan_staleness_figures(summary, kind));
  add(plan_energy_figures(summary, kind));
  add(plan_magnitude_figures(summary, kind));
  add(plan_prediction_figures(summary, kind));
  return figures;
}

/// Returns the places of the chosen methods among the groups, in the order of the choice.
std::vector<std::size_t> chosen_groups(const std::vector<Group>& groups,
                                       const std::vector<std::string>& lists) {
  std::vector<std::string> known(groups.size());
  std::transform(
      groups.begin(), groups.end(), known.begin(), [](const Group& group) { return group.label; });
  std::vector<std::size_t> chosen;
  for (const auto& list : lists) {
    for (const auto& label : labels_in(list, known)) {
      const auto place =
          static_cast<std::size_t>(std::find(known.begin(), known.end(), label) - known.begin());
      if (std::find(chosen.begin(), chosen.end(), place) == chosen.end()) {
        chosen.push_back(place);
      }
    }
  }
  for (std::size_t i = 0; lists.empty() && i < groups.size(); ++i) {
    chosen.push_back(i);
  }
  return chosen;
}

/// Returns a figure of the report without the curves of other methods.
ReportFigure figure_of_report(const ResultFolder& folder,
                              const FigureChoice& choice,
                              const std::vector<std::size_t>& chosen) {
  std::vector<std::string> known;
  for (const auto& quantity : drawn_quantities()) {
    if (!quantity.against) {
      known.emplace_back(quantity.name);
    }
  }
  const Summary summary = summarise(folder);
  for (const auto& map : plan_heat_maps(summary)) {
    known.push_back(map.name);
  }
  for (auto& figure : figures_with_own_axis(summary, choice.kind)) {
    if (figure.spec.name != choice.quantity) {
      known.push_back(figure.spec.name);
      continue;
    }
    require(!choice.by, "--by: the figure '{}' has an axis of its own", choice.quantity);
    std::erase_if(figure.spec.curves, [&](const Curve& curve) {
      return curve.group && std::find(chosen.begin(), chosen.end(), *curve.group) == chosen.end();
    });
    return std::move(figure);
  }
  usage_error("unknown quantity '{}'{}", choice.quantity, suggestion(choice.quantity, known));
}

}  // namespace

const std::vector<FigureAxis>& figure_axes() {
  static const std::vector<FigureAxis> axes{
      {.name = "iterations", .column = std::nullopt},
      {.name = "bytes", .column = Column::total_sent_bytes},
      {.name = "time", .column = Column::virtual_s},
      {.name = "wall", .column = Column::wall_s},
      {.name = "gradients", .column = Column::total_contributions},
      {.name = "epochs", .column = Column::epoch}};
  return axes;
}

std::vector<std::string> labels_in(std::string_view list, const std::vector<std::string>& known) {
  std::vector<std::vector<std::string>> known_parts(known.size());
  std::transform(known.begin(), known.end(), known_parts.begin(), parts_of);
  const auto parts = parts_of(list);
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < parts.size();) {
    const std::size_t count = longest_label(parts, i, known_parts);
    require(count > 0, "{}", unknown_label(parts, i, known));
    const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(i);
    const std::vector<std::string> label(begin, begin + static_cast<std::ptrdiff_t>(count));
    const auto place = std::find(known_parts.begin(), known_parts.end(), label);
    labels.push_back(known[static_cast<std::size_t>(place - known_parts.begin())]);
    i += count;
  }
  return labels;
}

ReportFigure plan_chosen_figure(const ResultFolder& folder, const FigureChoice& choice) {
  require(folder.mixed_data.empty(), "{}", folder.mixed_data);
  const auto groups = group_runs(folder);
  const auto chosen = chosen_groups(groups, choice.methods);
  ReportFigure figure;
  if (const DrawnQuantity* found = find_quantity(choice.quantity)) {
    DrawnQuantity quantity = *found;
    quantity.against = choice.by ? find_axis(*choice.by).column : std::nullopt;
    const bool has_bounds = quantity.column == Column::residual_norm_sq && !quantity.against;
    const auto bounds =
        has_bounds ? residual_bounds(summarise(folder)) : std::vector<MethodBound>();
    figure = plan_figure(folder, groups, chosen, quantity, choice.kind, bounds);
  } else {
    figure = figure_of_report(folder, choice, chosen);
  }
  const auto& curves = figure.spec.curves;
  const bool is_any_drawn = std::any_of(curves.begin(), curves.end(), [&](const Curve& curve) {
    return !curve.is_bound && is_on_axes(figure.spec, curve);
  });
  require(is_any_drawn,
          "{}: none of the chosen methods has '{}'{}{}",
          folder.path.string(),
          choice.quantity,
          choice.by ? " by " : "",
          choice.by.value_or(""));
  return figure;
}

bool may_be_map(std::string_view quantity) { return quantity.starts_with(kHeatMaps); }

std::optional<HeatMap> plan_chosen_map(const ResultFolder& folder, const FigureChoice& choice) {
  if (!may_be_map(choice.quantity) || !folder.mixed_data.empty()) {
    return std::nullopt;
  }
  for (auto& map : plan_heat_maps(summarise(folder))) {
    if (map.name == choice.quantity) {
      require(!choice.by && choice.methods.empty(),
              "{}: '{}' is a heat map, which has all methods on axes of its own",
              choice.by ? "--by" : "--methods",
              choice.quantity);
      return std::move(map);
    }
  }
  return std::nullopt;
}

std::vector<std::string> methods_not_drawn(const ResultFolder& folder,
                                           const FigureChoice& choice,
                                           const FigureSpec& spec) {
  if (spec.is_of_one_method) {
    return {};
  }
  std::set<std::size_t> drawn;
  for (const auto& curve : spec.curves) {
    if (curve.group && is_on_axes(spec, curve)) {
      drawn.insert(*curve.group);
    }
    drawn.insert(curve.joined.begin(), curve.joined.end());
  }
  std::vector<std::string> missing;
  const auto groups = group_runs(folder);
  for (const std::size_t group : chosen_groups(groups, choice.methods)) {
    if (!drawn.empty() && !drawn.contains(group)) {
      missing.push_back(groups[group].label);
    }
  }
  return missing;
}

std::vector<CutWord> cut_words_in(const ResultFolder& folder, const FigureSpec& spec) {
  std::vector<std::size_t> shown;
  for (const auto& curve : spec.curves) {
    if (curve.group) {
      shown.push_back(*curve.group);
    }
  }
  return cut_words(group_runs(folder), shown);
}

}  // namespace residuum::reports
