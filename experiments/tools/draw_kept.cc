// Draws a figure of what `residuum keep` kept of a study, whose seeds may have been run on several
// machines, so that no result folder has them all. The figure has the files of those that residuum
// report draws.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "core/error.h"
#include "reports/analysis/series.h"
#include "reports/analysis/statistics.h"
#include "reports/figures/draw.h"
#include "reports/figures/figure.h"
#include "reports/tables/csv_reader.h"
#include "reports/tables/run_keys.h"

namespace residuum {
namespace {

using reports::CsvReader;

using Method = reports::RunKeys;

/// A Picture is a figure that can be asked for.
struct Picture {
  std::string_view name;
  std::string_view table;
  std::string_view x;  // a column, or a key of the method
  std::string_view y;
  std::string_view x_label;
  std::string_view y_label;
  reports::Scale x_scale = reports::Scale::linear;
  std::optional<std::string_view> only_at = std::nullopt;  // rows whose "epoch" is this
  bool has_delta = false;
};

constexpr auto kLog = reports::Scale::log;
constexpr auto kLinear = reports::Scale::linear;
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

const Picture& picture_of(std::string_view name) {
  const auto* const found =
      std::find_if(kPictures.begin(), kPictures.end(), [&](const Picture& picture) {
        return picture.name == name;
      });
  std::string names;
  for (const auto& picture : kPictures) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", picture.name);
  }
  require(found != kPictures.end(), "there is no figure '{}'; there are {}", name, names);
  return *found;
}

std::string value_of(const Method& method, std::string_view key) {
  const auto found = method.find(std::string(key));
  return found == method.end() ? std::string() : found->second;
}

/// Whose a row is: a method's run, or what epochs.csv says of it.
struct Owner {
  Method method;
  std::string seed;
  std::string series;  // how messages name it
};

/// Returns the owners of rows by run, nothing for a run that has not finished: it has no end.
using Owners = std::map<std::string, std::optional<Owner>>;

Owners read_owners(const std::filesystem::path& kept) {
  Owners owners;
  CsvReader runs(kept / "runs.csv");
  const auto status = runs.find("status");
  while (runs.next()) {
    const bool has_finished = !status || runs.text(*status) == "finished";
    const std::string& run = runs.text(runs.column("run_id"));
    const Owner owner{.method = reports::keys_in_row(runs),
                      .seed = runs.text(runs.column("seed")),
                      .series = run};
    const bool is_new =
        owners.emplace(run, has_finished ? std::optional(owner) : std::nullopt).second;
    require(is_new, "runs.csv has the run {} twice", run);
  }
  return owners;
}

/// Reads "kind=dense workers=4", as epochs.csv and quarters.csv name a method.
Method method_of(const std::string& text) {
  Method method = reports::keys_in_name(text);
  require(!method.empty() || text == reports::method_name({}), "'{}' is no method", text);
  return method;
}

/// A value of one seed, and the place that it shares with those of the others.
struct Value {
  double place = 0;
  double x = 0;
  double y = 0;
};

/// The values of every method, without the key that is the x axis.
using Values = std::map<Method, std::vector<Value>>;

double needed(const CsvReader& table, std::string_view column) {
  const auto number = table.number(table.column(column));
  if (!number || !std::isfinite(*number)) {
    table.fail(fmt::format("{} is not a number", column));
  }
  return *number;
}

std::optional<Value> value_of(const CsvReader& table,
                              const Picture& picture,
                              const Method& method) {
  const auto y = table.number(table.column(picture.y));
  if (!y || !std::isfinite(*y) ||
      (picture.only_at && table.text(table.column("epoch")) != *picture.only_at)) {
    return std::nullopt;
  }
  if (picture.x == "bytes") {  // f is taken before its row's bytes are sent
    const double x = needed(table, "total_sent_bytes") - needed(table, "sent_bytes");
    return x > 0 ? std::optional(Value{needed(table, "iteration"), x, *y}) : std::nullopt;
  }
  if (table.find(picture.x)) {
    const double x = needed(table, picture.x) + (picture.x == "epoch" ? 1 : 0);
    return Value{x, x, *y};
  }
  const std::string x = value_of(method, picture.x);
  require(!x.empty(), "a method has no {}, which is the x axis of {}", picture.x, picture.name);
  double place = 0;
  const auto [end, error] = std::from_chars(x.data(), x.data() + x.size(), place);
  require(error == std::errc() && end == x.data() + x.size() && std::isfinite(place) && place > 0,
          "{} is '{}', no number above 0",
          picture.x,
          x);
  return Value{place, place, *y};
}

/// Returns whose a row is; nothing where its run has not finished.
std::optional<Owner> owner_of(const CsvReader& table, const Owners& owners) {
  const auto run = table.find("run_id");
  if (!run) {
    const std::string& text = table.text(table.column("method"));
    const std::string& seed = table.text(table.column("seed"));
    return Owner{
        .method = method_of(text), .seed = seed, .series = fmt::format("{}, seed {}", text, seed)};
  }
  const auto found = owners.find(table.text(*run));
  require(found != owners.end(), "runs.csv has no run {}", table.text(*run));
  return found->second;
}

/// Reads the values of all methods, those that differ in the keys `joined` alone as one.
Values read_values(const std::filesystem::path& kept,
                   const Picture& picture,
                   const std::set<std::string>& joined) {
  const auto owners = read_owners(kept);
  Values values;
  std::set<std::tuple<Method, std::string, double>> seen;
  std::set<std::string> unknown = joined;
  CsvReader table(kept / picture.table);
  while (table.next()) {
    auto owner = owner_of(table, owners);
    const auto value = owner ? value_of(table, picture, owner->method) : std::nullopt;
    if (!value) {
      continue;
    }
    owner->method.erase(std::string(picture.x));
    for (const auto& key : joined) {
      if (owner->method.erase(key) != 0) {
        unknown.erase(key);
      }
    }
    require(seen.emplace(owner->method, owner->seed, value->place).second,
            "{} has two rows of {} at {}, or of another run of its curve and seed",
            picture.table,
            owner->series,
            value->place);
    values[owner->method].push_back(*value);
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

std::vector<reports::Point> points_of(const std::vector<Value>& values) {
  std::map<double, std::pair<std::vector<double>, std::vector<double>>> at;  // x and y by place
  for (const auto& value : values) {
    at[value.place].first.push_back(value.x);
    at[value.place].second.push_back(value.y);
  }
  std::vector<reports::Point> points;
  points.reserve(at.size());
  for (const auto& [place, pair] : at) {
    points.push_back(reports::seeds_point(reports::median(pair.first).value_or(place),
                                          pair.second,
                                          reports::IntervalKind::quartiles));
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

reports::FigureSpec plan(const std::filesystem::path& kept, const Picture& picture, Wishes wishes) {
  const auto joined = take_joined(wishes);
  Values drawn = read_values(kept, picture, joined);
  require_known(wishes, drawn);
  std::erase_if(drawn, [&](const auto& entry) { return !is_wanted(entry.first, wishes); });
  require(!drawn.empty(), "no method that is wanted has values of {}", picture.y);
  reports::FigureSpec spec;
  spec.name = std::string(picture.name);
  spec.x_label = std::string(picture.x_label);
  spec.y_label = std::string(picture.y_label);
  spec.x_scale = picture.x_scale;
  if (picture.has_delta) {
    spec.reference = reports::Reference{.y = 1, .label = "δ = 1: as good as random selection"};
  }
  for (const auto& [method, values] : drawn) {
    spec.curves.push_back({.label = label_of(method, drawn),
                           .style = spec.curves.size(),
                           .points = points_of(values)});
  }
  return spec;
}

Wishes wishes_of(std::span<char*> words) {
  Wishes wishes;
  for (const std::string word : words) {
    const auto equals = word.find('=');
    require(equals != std::string::npos && equals > 0, "'{}' is not KEY=VALUE", word);
    wishes[word.substr(0, equals)].push_back(word.substr(equals + 1));
  }
  return wishes;
}

void run(std::span<char*> words) {
  require(words.size() >= 3,
          "usage: residuum_draw_kept KEPT FIGURE FOLDER [KEY=VALUE...]; of methods that have the "
          "KEY those with one of its VALUEs are drawn, and all others; with * for VALUE those that "
          "differ in the KEY alone are one curve");
  const auto folder = OutputPath::named(words[2]);
  const auto spec = plan(words[0], picture_of(words[1]), wishes_of(words.subspan(3)));
  const auto drawn = reports::draw(spec, folder);
  require(drawn.problem.empty(), "{}", drawn.problem);
}

}  // namespace
}  // namespace residuum

int main(int argc, char** argv) {
  try {
    residuum::run(std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
}
