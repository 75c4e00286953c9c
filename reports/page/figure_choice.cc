#include "reports/page/figure_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "reports/analysis/series.h"
#include "reports/figures/report_figures.h"
#include "reports/latex/kept_tables.h"
#include "reports/page/sections.h"
#include "reports/results/csv.h"
#include "reports/results/result_folder.h"
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

/// Returns the choice of "loss-gap" by time for "loss-gap-time", the name of a report's figure.
FigureChoice with_axis_of_name(FigureChoice choice) {
  for (const auto& quantity : drawn_quantities()) {
    if (!quantity.against || quantity.name != choice.quantity) {
      continue;
    }
    const auto& axes = figure_axes();
    const auto axis = std::find_if(axes.begin(), axes.end(), [&](const FigureAxis& one) {
      return one.column == quantity.against;
    });
    require(!choice.by || *choice.by == axis->name,
            "--by: '{}' is by {} already",
            choice.quantity,
            axis->name);
    choice.by = std::string(axis->name);
    choice.quantity = choice.quantity.substr(0, choice.quantity.size() - axis->name.size() - 1);
    break;
  }
  return choice;
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
  const Summary summary = summarise(folder);
  std::vector<std::string> known = quantities_with_values(folder, groups_of(summary));
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

ReportFigure plan_chosen_figure(const ResultFolder& folder, const FigureChoice& wished) {
  require(folder.mixed_data.empty(), "{}", folder.mixed_data);
  const FigureChoice choice = with_axis_of_name(wished);
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

// --- Kept tables ---------------------------------------------------------------------------------

namespace {

using Method = RunKeys;

/// A Picture is a figure that can be asked for.
struct Picture {
  std::string_view name;
  std::string_view table;
  std::string_view x;  // a column, or a key of the method
  std::string_view y;
  std::string_view x_label;
  std::string_view y_label;
  Scale x_scale = Scale::linear;
  std::optional<std::string_view> only_at = std::nullopt;  // rows whose "epoch" is this
  bool has_delta = false;
};

constexpr auto kLog = Scale::log;
constexpr auto kLinear = Scale::linear;
constexpr std::array<Picture, 8> kPictures{{
    {"loss", "iterations.csv", "iteration", "loss", "iteration", "f(w)"},
    {"loss-bytes", "iterations.csv", "bytes", "loss", "bytes sent", "f(w)", kLog},
    {"accuracy", "iterations.csv", "iteration", "test_accuracy", "iteration", "test accuracy"},
    {"delta",
     "epochs.csv",
     "epoch",
     "delta",
     "pass over the data",
     "δ, mean of a pass",
     kLinear,
     std::nullopt,
     true},
    {"end-workers", "runs.csv", "workers_count", "final_loss", "workers", "f(w) at the end", kLog},
    {"accuracy-workers",
     "runs.csv",
     "workers_count",
     "final_test_accuracy",
     "workers",
     "test accuracy at the end",
     kLog},
    {"delta-workers",
     "quarters.csv",
     "workers_count",
     "delta",
     "workers",
     "δ, mean of the last quarter",
     kLog,
     "3",
     true},
    {"exchange",
     "networks.csv",
     "sparsifier_k",
     "iteration_s",
     "entries that a worker sends",
     "seconds of an exchange",
     kLog},
}};

const Picture& picture_of(const std::string& name) {
  std::vector<std::string> known;
  for (const auto& picture : kPictures) {
    known.emplace_back(picture.name);
    if (picture.name == name) {
      return picture;
    }
  }
  usage_error("unknown figure '{}' of kept tables{}", name, suggestion(name, known));
}

std::string value_of(const Method& method, std::string_view key) {
  const auto found = method.find(std::string(key));
  return found == method.end() ? std::string() : found->second;
}

/// A value of one seed, and the place that it shares with those of the others.
struct Value {
  double place = 0;
  double x = 0;
  double y = 0;
};

/// The values of every method, without the key that is the x axis.
using Values = std::map<Method, std::vector<Value>>;

double needed(const KeptTable& table, const KeptRow& row, std::string_view column) {
  const auto number = table.number(row, table.column(column));
  require(number && std::isfinite(*number), "{}: {} has no {}", table.file, row.run, column);
  return *number;
}

/// Returns the x of a figure whose axis is a key of the method.
double place_in(const Method& method, const Picture& picture) {
  const std::string text = value_of(method, picture.x);
  require(!text.empty(), "a method has no {}, which is the x axis of {}", picture.x, picture.name);
  const double place = parsed<double>(text).value_or(0);
  require(std::isfinite(place) && place > 0, "{} is '{}', no number above 0", picture.x, text);
  return place;
}

std::optional<Value> value_of(const KeptTable& table, const Picture& picture, const KeptRow& row) {
  const auto y = table.number(row, table.column(picture.y));
  if (!y || !std::isfinite(*y) ||
      (picture.only_at && row.fields[table.column("epoch")] != *picture.only_at)) {
    return std::nullopt;
  }
  if (picture.x == "bytes") {  // f is taken before its row's bytes are sent
    const double x = needed(table, row, "total_sent_bytes") - needed(table, row, "sent_bytes");
    return x > 0 ? std::optional(Value{needed(table, row, "iteration"), x, *y}) : std::nullopt;
  }
  const double x = table.find(picture.x)
                       ? needed(table, row, picture.x) + (picture.x == "epoch" ? 1 : 0)
                       : place_in(row.keys, picture);
  return Value{x, x, *y};
}

/// Reads the values of all methods, those that differ in the keys `joined` alone as one.
Values read_values(KeptFolder& kept, const Picture& picture, const std::set<std::string>& joined) {
  Values values;
  std::set<std::tuple<Method, std::uint64_t, double>> seen;
  std::set<std::string> unknown = joined;
  const KeptTable& table = kept.table(std::string(picture.table));
  for (const auto& row : table.rows) {
    const auto value = value_of(table, picture, row);
    if (!value) {
      continue;
    }
    Method method = row.keys;
    method.erase(std::string(picture.x));
    for (const auto& key : joined) {
      if (method.erase(key) != 0) {
        unknown.erase(key);
      }
    }
    require(seen.emplace(method, row.seed, value->place).second,
            "{} has two rows of {} at {}, or of another run of its curve and seed",
            picture.table,
            row.run,
            value->place);
    values[method].push_back(*value);
  }
  require(unknown.empty(), "no method has the key {}, or it is the x axis", *unknown.begin());
  return values;
}

/// Returns "gtopk-tree, captured, rho=0.01" of the keys that differ among the methods.
std::string label_of(const Method& method, const Values& drawn) {
  std::string label;
  for (const auto& [key, value] : method) {
    const bool differs =
        std::any_of(drawn.begin(), drawn.end(), [&, &key = key, &value = value](const auto& other) {
          return value_of(other.first, key) != value;
        });
    if (differs) {
      const bool needs_name = value.find_first_not_of("0123456789.e-") == std::string::npos ||
                              key == "sparsifier_schedule";
      const auto name = key == "sparsifier_density" ? "rho" : key.substr(key.find('_') + 1);
      label += fmt::format("{}{}",
                           label.empty() ? "" : ", ",
                           needs_name ? fmt::format("{}={}", name, value) : value);
    }
  }
  return label.empty() ? "all" : label;
}

std::vector<Point> points_of(const std::vector<Value>& values, IntervalKind kind) {
  std::map<double, std::pair<std::vector<double>, std::vector<double>>> at;  // x and y by place
  for (const auto& value : values) {
    at[value.place].first.push_back(value.x);
    at[value.place].second.push_back(value.y);
  }
  std::vector<Point> points;
  points.reserve(at.size());
  for (const auto& [place, pair] : at) {
    points.push_back(seeds_point(median(pair.first).value_or(place), pair.second, kind));
  }
  return points;
}

/// The values that each key may have. A method without the key is drawn.
using WantedValues = std::map<std::string, std::vector<std::string>>;

/// Takes the keys out of `wanted` that have the value "*", and returns them.
std::set<std::string> take_joined(WantedValues& wanted) {
  std::set<std::string> joined;
  for (const auto& [key, values] : wanted) {
    if (std::find(values.begin(), values.end(), "*") != values.end()) {
      require(values.size() == 1, "{}=* makes one curve of all values; give it alone", key);
      joined.insert(key);
    }
  }
  std::erase_if(wanted, [&](const auto& one) { return joined.count(one.first) != 0; });
  return joined;
}

bool is_wanted(const Method& method, const WantedValues& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
    const std::string value = value_of(method, one.first);
    return value.empty() ||
           std::find(one.second.begin(), one.second.end(), value) != one.second.end();
  });
}

/// A key or a value that no method has is an error.
void require_known(const WantedValues& wanted, const Values& methods) {
  for (const auto& one : wanted) {
    const bool has_key = std::any_of(methods.begin(), methods.end(), [&](const auto& method) {
      return method.first.count(one.first) != 0;
    });
    require(has_key, "no method has the key {}, or it is the x axis", one.first);
    for (const auto& value : one.second) {
      const bool is_known = std::any_of(methods.begin(), methods.end(), [&](const auto& method) {
        return value_of(method.first, one.first) == value;
      });
      require(is_known || value == "none", "no method has {}={}", one.first, value);
    }
  }
}

WantedValues wanted_values_of(const std::vector<std::string>& words) {
  WantedValues wanted;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    require(
        equals != std::string::npos && equals > 0, "--where is '{}', but must be KEY=VALUE", word);
    wanted[word.substr(0, equals)].push_back(word.substr(equals + 1));
  }
  return wanted;
}

}  // namespace

bool is_kept_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "runs.csv", ignored) &&
         !std::filesystem::exists(folder / "study.resolved.json", ignored) &&
         !std::filesystem::exists(folder / kSources, ignored);
}

FigureSpec plan_kept_figure(const std::filesystem::path& kept, const KeptFigureChoice& choice) {
  const Picture& picture = picture_of(choice.figure);
  WantedValues wanted = wanted_values_of(choice.where);
  const auto joined = take_joined(wanted);
  KeptFolder folder(kept);
  Values drawn = read_values(folder, picture, joined);
  require_known(wanted, drawn);
  std::erase_if(drawn, [&](const auto& entry) { return !is_wanted(entry.first, wanted); });
  require(!drawn.empty(), "no method that is wanted has values of {}", picture.y);
  FigureSpec spec;
  spec.name = std::string(picture.name);
  spec.x_label = std::string(picture.x_label);
  spec.y_label = std::string(picture.y_label);
  spec.x_scale = picture.x_scale;
  spec.band = std::string(interval_words(choice.kind));
  if (picture.has_delta) {
    spec.reference = Reference{.y = 1, .label = "δ = 1: as good as random selection"};
  }
  for (const auto& [method, values] : drawn) {
    spec.curves.push_back({.label = label_of(method, drawn),
                           .style = spec.curves.size(),
                           .points = points_of(values, choice.kind)});
  }
  return spec;
}

}  // namespace residuum::reports
