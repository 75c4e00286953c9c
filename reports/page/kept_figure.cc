#include "reports/page/kept_figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "reports/analysis/series.h"
#include "reports/typeset/kept_tables.h"

namespace residuum::reports {
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
  double place = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, place);
  require(error == std::errc() && stop == end && std::isfinite(place) && place > 0,
          "{} is '{}', no number above 0",
          picture.x,
          text);
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

/// A wish has the values that one key may have; a method without the key is drawn.
using Wishes = std::map<std::string, std::vector<std::string>>;

/// Takes the keys out of the wishes that have the value "*", and returns them.
std::set<std::string> take_joined(Wishes& wishes) {
  std::set<std::string> joined;
  for (const auto& [key, values] : wishes) {
    if (std::find(values.begin(), values.end(), "*") != values.end()) {
      require(values.size() == 1, "{}=* makes one curve of all values; give it alone", key);
      joined.insert(key);
    }
  }
  std::erase_if(wishes, [&](const auto& wish) { return joined.count(wish.first) != 0; });
  return joined;
}

bool is_wanted(const Method& method, const Wishes& wishes) {
  return std::all_of(wishes.begin(), wishes.end(), [&](const auto& wish) {
    const std::string value = value_of(method, wish.first);
    return value.empty() ||
           std::find(wish.second.begin(), wish.second.end(), value) != wish.second.end();
  });
}

/// A key or a value that no method has is an error.
void require_known(const Wishes& wishes, const Values& methods) {
  for (const auto& wish : wishes) {
    const bool has_key = std::any_of(methods.begin(), methods.end(), [&](const auto& method) {
      return method.first.count(wish.first) != 0;
    });
    require(has_key, "no method has the key {}, or it is the x axis", wish.first);
    for (const auto& value : wish.second) {
      const bool is_known = std::any_of(methods.begin(), methods.end(), [&](const auto& method) {
        return value_of(method.first, wish.first) == value;
      });
      require(is_known || value == "none", "no method has {}={}", wish.first, value);
    }
  }
}

Wishes wishes_of(const std::vector<std::string>& words) {
  Wishes wishes;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    require(
        equals != std::string::npos && equals > 0, "--where is '{}', but must be KEY=VALUE", word);
    wishes[word.substr(0, equals)].push_back(word.substr(equals + 1));
  }
  return wishes;
}

}  // namespace

bool is_kept_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / "runs.csv", ignored) &&
         !std::filesystem::exists(folder / "study.resolved.json", ignored);
}

FigureSpec plan_kept_figure(const std::filesystem::path& kept, const KeptFigureChoice& choice) {
  const Picture& picture = picture_of(choice.figure);
  Wishes wishes = wishes_of(choice.where);
  const auto joined = take_joined(wishes);
  KeptFolder folder(kept);
  Values drawn = read_values(folder, picture, joined);
  require_known(wishes, drawn);
  std::erase_if(drawn, [&](const auto& entry) { return !is_wanted(entry.first, wishes); });
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
