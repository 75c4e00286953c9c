#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reports/analysis/words.h"
#include "reports/page/html.h"
#include "reports/page/sections.h"

namespace residuum::reports {
namespace {

Cell mean_cell(double value, const std::optional<Interval>& interval) {
  Cell cell = number_cell(short_number(value, digits_for(interval)));
  cell.value = value;
  if (interval) {
    cell.html += small(short_interval(*interval));
  }
  return cell;
}

Cell counted_cell(double value) {
  Cell cell = number_cell(short_number(value));
  cell.value = value;
  return cell;
}

std::vector<Cell> look_row(const CriticalRatio& search, std::size_t number) {
  const SearchLook& look = search.result.looks[number];
  return {counted_cell(static_cast<double>(number + 1)),
          text_cell(search.name(look.level)),
          counted_cell(static_cast<double>(look.n)),
          counted_cell(look.error),
          mean_cell(look.loss, look.loss_interval),
          mean_cell(look.excess, look.excess_interval),
          text_cell(word_of(look.decision))};
}

}  // namespace

std::string search_table(const Summary& summary) {
  if (!summary.search) {
    return {};
  }
  const CriticalRatio& search = *summary.search;
  if (search.result.looks.empty()) {
    return "<p class=\"note\">Too few runs have ended for a first look.</p>\n";
  }
  std::vector<std::vector<Cell>> rows;
  for (std::size_t number = 0; number < search.result.looks.size(); ++number) {
    rows.push_back(look_row(search, number));
  }
  const std::string about = fmt::format(
      "The looks in the order in which they were made. The loss is by how much {} of compressed "
      "training ends worse than that of dense training, mean over the seeds, with Student's "
      "interval of confidence 1 − error; the excess is the loss less the margin, and its interval "
      "decides.",
      search.quantity);
  return fmt::format("<p>{}</p>\n", escape(about)) +
         table({number_cell("look"),
                text_cell(search.ratios.empty() ? search.key : "compression"),
                number_cell("seeds"),
                number_cell("error"),
                number_cell("loss"),
                number_cell("excess"),
                text_cell("decision")},
               rows,
               {.id = "search-table", .caption = {}, .is_searched = false, .methods = {}});
}

namespace {

Cell tuned_mean_cell(const TunedLevel& level) {
  Cell cell = number_cell(short_number(level.mean, digits_for(level.interval)));
  cell.value = level.mean;
  if (level.interval) {
    cell.html += small(short_interval(*level.interval));
  }
  return cell;
}

Cell tuned_value_cell(const TuningAxis& axis, std::size_t place) {
  Cell cell = axis.is_ordered() ? number_cell(plain_text(axis.values[place]))
                                : text_cell(plain_text(axis.values[place]));
  if (axis.is_ordered()) {
    cell.value = axis.numbers[place];
  }
  return cell;
}

std::vector<Cell> tuned_level_row(const TunedStudy& study,
                                  const TunedMethod& method,
                                  const TunedLevel& level) {
  std::vector<Cell> row{text_cell(method.label)};
  const auto places = study.plan.places_of(level.level);
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    row.push_back(tuned_value_cell(study.plan.axes[axis], places[axis]));
  }
  if (study.plan.halving > 0) {
    row.push_back(number_cell(percent(study.plan.share(level.round))));
  }
  const bool is_best = method.result.best && method.result.best->level == level.level &&
                       level.round + 1 == study.plan.rounds();
  row.push_back(number_cell(fmt::format("{}", level.values.size() + level.worst)));
  row.push_back(number_cell(fmt::format("{}", level.worst)));
  row.push_back(tuned_mean_cell(level));
  row.push_back(text_cell(is_best ? "chosen" : ""));
  return row;
}

/// Returns the levels that differ from the best one in this key alone, of the round that all have
/// run in.
std::vector<TunedLevel> levels_along(const TuningPlan& plan,
                                     const TuningResult& result,
                                     std::size_t axis) {
  std::vector<TunedLevel> levels;
  const auto best = plan.places_of(result.best->level);
  for (const auto& level : result.levels) {
    auto places = plan.places_of(level.level);
    places[axis] = best[axis];
    if (places == best && level.round == 0) {
      levels.push_back(level);
    }
  }
  return levels;
}

/// The mean of the quantity at one value; values at which a run was worse than any number have
/// none.
Point tuned_point(const TuningAxis& axis, std::size_t place, const TunedLevel& level) {
  Point point{.x = axis.numbers[place],
              .middle = std::nullopt,
              .lower = std::nullopt,
              .upper = std::nullopt,
              .n = level.values.size()};
  if (level.worst == 0) {
    point.middle = level.mean;
    point.lower = level.interval ? std::optional(level.interval->low) : std::nullopt;
    point.upper = level.interval ? std::optional(level.interval->high) : std::nullopt;
  }
  return point;
}

Curve tuned_curve(const TunedStudy& study, std::size_t number, std::size_t axis) {
  const TunedMethod& method = study.methods[number];
  Curve curve{.label = method.label,
              .style = method.group.value_or(number),
              .points = {},
              .is_bound = false,
              .group = method.group};
  for (const auto& level : levels_along(study.plan, method.result, axis)) {
    const std::size_t place = study.plan.places_of(level.level)[axis];
    curve.points.push_back(tuned_point(study.plan.axes[axis], place, level));
  }
  return curve;
}

/// Plans the figure of some methods against one key.
ReportFigure tuned_figure(const TunedStudy& study, std::size_t axis, std::vector<Curve> curves) {
  const TuningAxis& key = study.plan.axes[axis];
  const bool is_log = key.numbers.front() > 0 && key.numbers.back() > 10 * key.numbers.front();
  const std::string others =
      study.plan.axes.size() > 1 ? "; the other tuned keys are at their best" : "";
  ReportFigure figure;
  figure.title = "Tuning of " + key.key;
  figure.caption = fmt::format(
      "The mean of {} over the tuning seeds against {}{}{}. A value at which a run diverged or "
      "missed "
      "has no point.",
      quantity_words(study.plan),
      key.key,
      study.plan.rounds() > 1 ? fmt::format(", after {} of the budget, the first round of halving",
                                            percent(study.plan.share(0)))
                              : std::string(),
      others);
  figure.spec.x_label = key.key;
  figure.spec.y_label = quantity_words(study.plan);
  figure.spec.x_scale = is_log ? Scale::log : Scale::linear;
  figure.spec.y_scale = scale_for(curves, 10);
  figure.spec.band = std::string(interval_words(IntervalKind::student));
  figure.spec.curves = std::move(curves);
  return figure;
}

/// Returns the numbers of the methods that have chosen, in portions that fit a figure.
std::vector<std::vector<std::size_t>> methods_by_figure(const TunedStudy& study) {
  std::vector<std::vector<std::size_t>> portions;
  for (std::size_t i = 0; i < study.methods.size(); ++i) {
    if (!study.methods[i].result.best) {
      continue;
    }
    if (portions.empty() || portions.back().size() == kCurvesPerFigure) {
      portions.emplace_back();
    }
    portions.back().push_back(i);
  }
  return portions;
}

std::string tuning_sentences(const TunedStudy& study) {
  std::string html = "<ul>\n";
  for (const auto& method : study.methods) {
    const std::string warning = edge_warning(study, method);
    html += fmt::format("<li>{}.{}</li>\n",
                        escape(sentence_of(study, method)),
                        warning.empty() ? "" : " <b>Warning:</b> " + escape(warning) + ".");
  }
  return html + "</ul>\n";
}

}  // namespace

std::string tuning_html(const Summary& summary, FigureWriter& writer) {
  if (!summary.tuning) {
    return {};
  }
  const TunedStudy& study = *summary.tuning;
  std::vector<std::vector<Cell>> rows;
  for (const auto& method : study.methods) {
    for (const auto& level : method.result.levels) {
      rows.push_back(tuned_level_row(study, method, level));
    }
  }
  std::vector<Cell> header{text_cell("method")};
  for (const auto& axis : study.plan.axes) {
    header.push_back(key_cell(axis.key));
  }
  if (study.plan.halving > 0) {
    header.push_back(number_cell("budget"));
  }
  header.insert(header.end(),
                {number_cell("runs"),
                 number_cell("diverged or missed"),
                 number_cell(quantity_words(study.plan)),
                 text_cell("")});
  const std::string about = fmt::format(
      "Every method runs at the values that were best for it on the seeds {}, which are none of "
      "the study's own. A run that diverged or missed its target is worse than any number; then "
      "the mean of {} decides, and of equal ones the smaller value. The mean at the chosen value "
      "is "
      "biased, as the best of several: the study's own runs are not.",
      fmt::join(study.plan.seeds, ", "),
      quantity_words(study.plan));
  std::string html = fmt::format("<p>{}</p>\n", escape(about)) + tuning_sentences(study);
  html += writer.draw(plan_tuning_figures(study));
  return html + table(header,
                      rows,
                      {.id = "tuning-table", .caption = {}, .is_searched = false, .methods = {}});
}

std::vector<ReportFigure> plan_tuning_figures(const TunedStudy& study) {
  std::vector<ReportFigure> figures;
  for (std::size_t axis = 0; axis < study.plan.axes.size(); ++axis) {
    if (!study.plan.axes[axis].is_ordered()) {
      continue;
    }
    for (const auto& portion : methods_by_figure(study)) {
      std::vector<Curve> curves;
      curves.reserve(portion.size());
      for (const std::size_t method : portion) {
        curves.push_back(tuned_curve(study, method, axis));
      }
      figures.push_back(tuned_figure(study, axis, std::move(curves)));
      figures.back().spec.name = fmt::format("tuning-{}", figures.size());
    }
  }
  return figures;
}

}  // namespace residuum::reports
