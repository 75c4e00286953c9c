#include "reports/terminal/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "reports/terminal/table.h"

namespace residuum::reports {
namespace {

// These keys say how the function is evaluated, or where its data lie, and not which one it is.
constexpr std::array<std::string_view, 6> kNoProblem{
    "data", "precision", "device", "start", "evaluate_samples", "evaluate_precision"};

}  // namespace

std::string problem_difference(const Run& a, const Run& b) {
  const auto differ = [](std::string_view name, const Json& before, const Json& after) {
    return before.is_null() || after.is_null() || before == after
               ? std::string()
               : fmt::format("{} is {} in the first and {} in the second",
                             name,
                             plain_text(before),
                             plain_text(after));
  };
  const Json& objective = value_at(b.config, "config.objective");
  for (const auto& [key, before] : value_at(a.config, "config.objective").items()) {
    auto found = differ("objective." + key, before, value_at(objective, key));
    const bool matters = std::find(kNoProblem.begin(), kNoProblem.end(), key) == kNoProblem.end();
    if (matters && !found.empty()) {
      return found;
    }
  }
  for (const auto& [path, name] : {std::pair("data.fingerprint", "the data's fingerprint"),
                                   std::pair("dimension", "the dimension")}) {
    auto found = differ(name, value_at(a.status, path), value_at(b.status, path));
    if (!found.empty()) {
      return found;
    }
  }
  return {};
}

namespace {

enum class Better { lower, higher, neither, unjudged };

struct ComparedQuantity {
  std::string_view name;
  Better better;
};

/// The quantities are those of run_metrics(), then the medians over the iterations of a run.
constexpr std::array<ComparedQuantity, 14> kComparedQuantities{
    {{"final_loss", Better::lower},
     {"final_loss_gap", Better::lower},
     {"final_grad_norm_sq", Better::lower},
     {"final_test_loss", Better::lower},
     {"final_test_accuracy", Better::higher},
     {"final_test_perplexity", Better::lower},
     {"average_grad_norm_sq", Better::lower},
     {"delta_max", Better::neither},
     {"total_error", Better::neither},
     {"nnz_sent", Better::neither},
     {"sent_bytes", Better::lower},
     {"delta_median", Better::neither},
     {"contraction_median", Better::neither},
     {"wall_s", Better::unjudged}}};

std::optional<double> value_of(const Summary& summary, std::size_t run, std::string_view quantity) {
  if (quantity == "delta_median") {
    return summary.runs[run].delta.median;
  }
  if (quantity == "contraction_median") {
    return summary.runs[run].contraction.median;
  }
  const auto& metrics = run_metrics();
  const auto metric = std::find_if(
      metrics.begin(), metrics.end(), [&](const Metric& one) { return one.name == quantity; });
  return metric == metrics.end() ? std::nullopt
                                 : number_at(summary.folder.runs[run].status, metric->path);
}

/// Two runs of the same method and seed, as positions in A and B.
struct Pair {
  std::size_t a = 0;
  std::size_t b = 0;
};

struct PairedMethod {
  std::string label;
  std::vector<Pair> pairs;  // both with tables
};

std::string key_of(const Run& run) { return fmt::format("{} {}", run.varying.dump(), run.seed); }

std::string name_of(const Run& run, const std::string& label) {
  return fmt::format("{}seed {}", label.empty() ? "" : label + ", ", run.seed);
}

/// Partners has the run of B for each run of A: that of the same seed and settings that vary, else
/// the same run, else the one of the same seed whose method has the same name.
class Partners {
 public:
  Partners(const ResultFolder& a, const ResultFolder& b) : of_a_(a.runs.size()) {
    const auto id = [](const Run& run) {
      return fmt::format("{} {}", run.id, value_at(run.config, "config").dump());
    };
    match(a, b, keys_of_runs(a, key_of), keys_of_runs(b, key_of));
    match(a, b, keys_of_runs(a, id), keys_of_runs(b, id));
    match(a, b, names_of_runs(a), names_of_runs(b));
  }

  std::optional<std::size_t> of(std::size_t run) const { return of_a_[run]; }
  bool is_taken(std::size_t run_of_b) const { return taken_.contains(run_of_b); }

 private:
  using Keys = std::vector<std::string>;

  template <class Key>
  static Keys keys_of_runs(const ResultFolder& folder, const Key& key) {
    Keys keys;
    for (const auto& run : folder.runs) {
      keys.push_back(key(run));
    }
    return keys;
  }

  static Keys names_of_runs(const ResultFolder& folder) {
    Keys names = method_labels(folder);
    for (std::size_t i = 0; i < names.size(); ++i) {
      names[i] += fmt::format(" {}", folder.runs[i].seed);
    }
    return names;
  }

  /// Pairs the runs that have no partner yet, by keys that no two of them share.
  void match(const ResultFolder& a, const ResultFolder& b, const Keys& of_a, const Keys& of_b) {
    std::map<std::string, std::size_t> places;
    std::map<std::string, std::size_t> count;
    for (std::size_t j = 0; j < b.runs.size(); ++j) {
      if (b.runs[j].is_known && !taken_.contains(j)) {
        places.emplace(of_b[j], j);
        ++count[of_b[j]];
      }
    }
    std::map<std::string, std::size_t> count_a;
    for (std::size_t i = 0; i < a.runs.size(); ++i) {
      count_a[of_a[i]] += of_a_[i] ? 0U : 1U;
    }
    for (std::size_t i = 0; i < a.runs.size(); ++i) {
      const auto found = places.find(of_a[i]);
      if (!of_a_[i] && a.runs[i].is_known && found != places.end() && count[of_a[i]] == 1 &&
          count_a[of_a[i]] == 1) {
        of_a_[i] = found->second;
        taken_.insert(found->second);
      }
    }
  }

  std::vector<std::optional<std::size_t>> of_a_;
  std::set<std::size_t> taken_;
};

/// The values that two runs have for a key, as text; "nothing" where one has none.
struct TwoValues {
  std::string before;
  std::string after;
  friend bool operator==(const TwoValues&, const TwoValues&) = default;
};

/// The keys at which two configurations differ.
using Differing = std::map<std::string, TwoValues>;

/// Returns a key as a study writes it, of the pointer that JSON has for it: "/step/value".
std::string dotted_key(std::string pointer) {
  std::replace(pointer.begin(), pointer.end(), '/', '.');
  return pointer.substr(1);
}

Differing differing_keys(const Json& a, const Json& b) {
  Differing keys;
  const Json& config_a = value_at(a, "config");
  const Json& config_b = value_at(b, "config");
  const Json flat_a = config_a.is_object() ? config_a.flatten() : Json::object();
  const Json flat_b = config_b.is_object() ? config_b.flatten() : Json::object();
  const auto text = [](const Json& flat, const std::string& key) {
    return flat.contains(key) ? plain_text(flat[key]) : std::string("nothing");
  };
  for (const Json* const flat : {&flat_a, &flat_b}) {
    for (const auto& [key, value] : flat->items()) {
      const bool differs =
          !flat_a.contains(key) || !flat_b.contains(key) || flat_a[key] != flat_b[key];
      if (differs && !key.empty()) {
        keys[dotted_key(key)] = {.before = text(flat_a, key), .after = text(flat_b, key)};
      }
    }
  }
  return keys;
}

constexpr std::size_t kNamed = 8;

/// Names the first keys and counts the others: a run that could not be prepared lacks most of them.
std::string named_keys(const std::vector<std::string>& keys) {
  const std::span<const std::string> named(keys.data(), std::min(keys.size(), kNamed));
  const std::size_t others = keys.size() - named.size();
  return fmt::format(
      "{}{}", fmt::join(named, ", "), others == 0 ? "" : fmt::format(" and {} other keys", others));
}

std::string words_of_seeds(const std::vector<std::int64_t>& seeds) {
  return fmt::format("{} {}", seeds.size() == 1 ? "seed" : "seeds", fmt::join(seeds, ", "));
}

/// Notes on runs that were compared. A part that all notes share is printed once.
class RunNotes {
 public:
  /// Records that a run was compared, and at which keys its two configurations differ.
  void add_run(const std::string& run, Differing keys) {
    differing_.emplace_back(run, std::move(keys));
  }
  /// Adds a sentence about a run, at most once for each run.
  void add(const std::string& run, std::string text) { texts_.emplace_back(run, std::move(text)); }

  /// Returns first the notes that all runs share, then the others of each run.
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    const auto shared = shared_keys();
    add_shared(shared, lines);
    add_own(shared, lines);
    std::map<std::string, std::size_t> counts;
    for (const auto& [run, text] : texts_) {
      ++counts[text];
    }
    for (const auto& [run, text] : texts_) {
      std::size_t& count = counts[text];
      const bool is_shared = count == 0 || is_of_all(count);
      if (count > 0) {
        lines.push_back(is_shared ? fmt::format("all {} runs: {}", differing_.size(), text)
                                  : fmt::format("{}: {}", run, text));
      }
      count = is_shared ? 0 : count;
    }
    return lines;
  }

 private:
  bool is_of_all(std::size_t count) const { return count > 1 && count == differing_.size(); }

  /// Returns the keys that differ in every run, with their values where all runs have the same.
  std::map<std::string, std::optional<TwoValues>> shared_keys() const {
    std::map<std::string, std::size_t> counts;
    std::map<std::string, std::optional<TwoValues>> values;
    for (const auto& [run, keys] : differing_) {
      for (const auto& [key, two] : keys) {
        ++counts[key];
        auto& value = values.try_emplace(key, two).first->second;
        value = value == two ? value : std::nullopt;
      }
    }
    std::erase_if(values, [&](const auto& one) { return !is_of_all(counts[one.first]); });
    return values;
  }

  void add_shared(const std::map<std::string, std::optional<TwoValues>>& shared,
                  std::vector<std::string>& lines) const {
    std::size_t named = 0;
    for (const auto& [key, values] : shared) {
      if (++named <= kNamed) {
        lines.push_back(
            fmt::format("{} differs in all {} runs{}",
                        key,
                        differing_.size(),
                        values ? fmt::format(": {}, now {}", values->before, values->after) : ""));
      }
    }
    if (shared.size() > kNamed) {
      lines.push_back(fmt::format(
          "{} other keys differ in all {} runs", shared.size() - kNamed, differing_.size()));
    }
  }

  void add_own(const std::map<std::string, std::optional<TwoValues>>& shared,
               std::vector<std::string>& lines) const {
    for (const auto& [run, keys] : differing_) {
      std::vector<std::string> own;
      for (const auto& [key, values] : keys) {
        if (!shared.contains(key)) {
          own.push_back(fmt::format("{} ({}, now {})", key, values.before, values.after));
        }
      }
      if (!own.empty()) {
        lines.push_back(fmt::format("{}: the configurations differ at {}", run, named_keys(own)));
      }
    }
  }

  std::vector<std::pair<std::string, Differing>> differing_;  // of every run that was compared
  std::vector<std::pair<std::string, std::string>> texts_;
};

class Comparer {
 public:
  Comparer(const Summary& a, const Summary& b, double tolerance, OtherProblem other)
      : a_(a), b_(b), tolerance_(tolerance), other_(other), partners_(a.folder, b.folder) {}

  Changes compare() {
    for (const Summary* summary : {&a_, &b_}) {
      const auto& folder = summary->folder;
      require(folder.mixed_data.empty(), "{}: {}", folder.path.string(), folder.mixed_data);
    }
    std::vector<PairedMethod> methods;
    std::size_t known = 0;
    for (const auto& group : a_.groups) {
      methods.push_back(pair(group.group));
      known += matched_;
    }
    require(known > 0,
            "{} and {} have no run of the same method and seed",
            a_.folder.path.string(),
            b_.folder.path.string());
    const auto of_runs = run_notes_.lines();
    changes_.notes.insert(changes_.notes.begin(), of_runs.begin(), of_runs.end());
    note_additions();
    set_confidence(methods);
    for (const auto& method : methods) {
      for (const auto& quantity : kComparedQuantities) {
        judge(method, quantity);
      }
    }
    return std::move(changes_);
  }

 private:
  PairedMethod pair(const Group& group) {
    PairedMethod method{.label = group.label, .pairs = {}};
    matched_ = 0;
    for (const std::size_t i : group.runs) {
      const Run& run = a_.folder.runs[i];
      if (run.config.empty()) {
        continue;  // it has not begun
      }
      const auto found = partners_.of(i);
      const std::string name = name_of(run, group.label);
      if (!found) {
        changes_.losses.push_back(fmt::format("{}: not in the later results", name));
        continue;
      }
      ++matched_;
      const std::size_t j = *found;
      mind_other_problem(run, b_.folder.runs[j], name);
      compare_states(i, j, name);
      if (run.state == "finished" && b_.folder.runs[j].state == "finished") {
        method.pairs.push_back({.a = i, .b = j});
      }
    }
    return method;
  }

  void mind_other_problem(const Run& before, const Run& after, const std::string& name) {
    const std::string difference = problem_difference(before, after);
    if (difference.empty()) {
      return;
    }
    require(
        other_ == OtherProblem::noted,
        "{} and {} are not of the same problem: for {}, {}; --anyway compares them all the same",
        a_.folder.path.string(),
        b_.folder.path.string(),
        name,
        difference);
    run_notes_.add(name, fmt::format("not the same problem: {}", difference));
  }

  void compare_states(std::size_t i, std::size_t j, const std::string& name) {
    const Run& before = a_.folder.runs[i];
    const Run& after = b_.folder.runs[j];
    if (before.state == "finished" && after.state != "finished") {
      changes_.losses.push_back(fmt::format("{}: finished, now {}{}{}",
                                            name,
                                            after.state,
                                            after.message.empty() ? "" : ": ",
                                            after.message));
    } else if (before.state == after.state && before.state != "finished") {
      run_notes_.add(name, fmt::format("{} in both, so not compared", after.state));
    } else if (before.state != after.state) {
      run_notes_.add(name, fmt::format("{}, now {}", before.state, after.state));
    }
    if (a_.runs[i].invariants && !b_.runs[j].invariants) {
      changes_.losses.push_back(
          fmt::format("{}: check '{}' no longer holds", name, b_.runs[j].failed_check));
    }
    run_notes_.add_run(
        name, before.id == after.id ? Differing() : differing_keys(before.config, after.config));
  }

  void note_additions() {
    const auto labels = method_labels(b_.folder);
    std::map<std::string, std::vector<std::int64_t>> added;  // seeds, by method
    for (std::size_t j = 0; j < b_.folder.runs.size(); ++j) {
      auto& seeds = added[labels[j]];
      if (!partners_.is_taken(j)) {
        seeds.push_back(b_.folder.runs[j].seed);
      }
    }
    const auto first = added.empty() ? std::vector<std::int64_t>() : added.begin()->second;
    const bool in_all = added.size() > 1 && !first.empty() &&
                        std::all_of(added.begin(), added.end(), [&](const auto& method) {
                          return method.second == first;
                        });
    if (in_all) {
      changes_.notes.push_back(
          fmt::format("all methods, {}: only in the later results", words_of_seeds(first)));
      return;
    }
    for (const auto& [label, seeds] : added) {
      if (!seeds.empty()) {
        changes_.notes.push_back(fmt::format("{}{}{}: only in the later results",
                                             label,
                                             label.empty() ? "" : ", ",
                                             words_of_seeds(seeds)));
      }
    }
  }

  struct Differences {
    std::vector<double> before, after, difference;
    bool same = true;
  };

  Differences differences(const PairedMethod& method, std::string_view quantity) const {
    Differences result;
    for (const auto& [i, j] : method.pairs) {
      const auto before = value_of(a_, i, quantity);
      const auto after = value_of(b_, j, quantity);
      if (!before || !after) {
        continue;
      }
      result.before.push_back(*before);
      result.after.push_back(*after);
      result.difference.push_back(*after - *before);
      result.same = result.same &&
                    std::bit_cast<std::uint64_t>(*before) == std::bit_cast<std::uint64_t>(*after);
    }
    return result;
  }

  /// Sets the confidence so that all intervals together have 95 %: each has its share of the error.
  void set_confidence(const std::vector<PairedMethod>& methods) {
    std::size_t judged = 0;
    for (const auto& method : methods) {
      for (const auto& quantity : kComparedQuantities) {
        const auto found = differences(method, quantity.name);
        judged +=
            quantity.better != Better::unjudged && !found.same && found.before.size() > 1 ? 1U : 0U;
      }
    }
    changes_.confidence = 1 - 0.05 / static_cast<double>(std::max<std::size_t>(1, judged));
  }

  void judge(const PairedMethod& method, const ComparedQuantity& quantity) {
    const Differences found = differences(method, quantity.name);
    if (found.before.empty()) {
      return;
    }
    Change change{.method = method.label,
                  .quantity = quantity.name,
                  .verdict = ChangeVerdict::same,
                  .pairs = found.before.size(),
                  .before = mean(found.before),
                  .after = mean(found.after),
                  .difference = are_identical(found)
                                    ? std::nullopt
                                    : student_interval(found.difference, changes_.confidence)};
    if (!found.same) {
      // A difference that is the same in all seeds is known without an interval.
      const double difference = found.difference.front();
      const auto known = are_identical(found)
                             ? std::optional(Interval{.low = difference, .high = difference})
                             : change.difference;
      change.verdict = verdict_on(known, quantity.better, tolerated(method, found, quantity.name));
    }
    changes_.quantities.push_back(std::move(change));
  }

  /// Returns the tolerated difference. Two runs differ as much in f as in f - f*, so the tolerance
  /// is the same for both: a part of the gap, if the gap is known.
  double tolerated(const PairedMethod& method,
                   const Differences& found,
                   std::string_view quantity) const {
    const auto gap =
        quantity == "final_loss" ? differences(method, "final_loss_gap") : Differences{};
    const bool has_gap = gap.before.size() == found.before.size();
    return tolerance_ * std::abs(*mean(has_gap ? gap.before : found.before));
  }

  /// True if all seeds have one value before and one after: nothing in it is random.
  static bool are_identical(const Differences& found) {
    return found.before.size() > 1 && are_one_run(found.before) && are_one_run(found.after);
  }

  static ChangeVerdict verdict_on(const std::optional<Interval>& difference,
                                  Better better,
                                  double tolerated) {
    if (better == Better::unjudged) {
      return ChangeVerdict::unjudged;
    }
    if (!difference || std::isnan(tolerated)) {
      return ChangeVerdict::undecided;
    }
    if (difference->low <= 0 && difference->high >= 0) {
      return ChangeVerdict::not_significant;
    }
    if (difference->low >= -tolerated && difference->high <= tolerated) {
      return ChangeVerdict::tolerated;
    }
    const bool rises = difference->low > tolerated;
    const bool falls = difference->high < -tolerated;
    if (!rises && !falls) {
      return ChangeVerdict::size_undecided;
    }
    if (better == Better::neither) {
      return ChangeVerdict::changed;
    }
    return rises == (better == Better::higher) ? ChangeVerdict::better : ChangeVerdict::worse;
  }

  const Summary& a_;
  const Summary& b_;
  double tolerance_;
  OtherProblem other_;
  Partners partners_;
  std::size_t matched_ = 0;
  RunNotes run_notes_;
  Changes changes_;
};

std::map<std::string, std::string> names_of_methods(const Changes& changes) {
  std::vector<std::string> methods;
  for (const auto& change : changes.quantities) {
    methods.push_back(change.method);
  }
  return printable_names(methods);
}

}  // namespace

std::string_view name_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::same:
      return "same";
    case ChangeVerdict::unjudged:
      return "not judged";
    case ChangeVerdict::undecided:
      return "undecided";
    case ChangeVerdict::size_undecided:
      return "significant, size undecided";
    case ChangeVerdict::not_significant:
      return "not significant";
    case ChangeVerdict::tolerated:
      return "significant, tolerated";
    case ChangeVerdict::changed:
      return "changed";
    case ChangeVerdict::better:
      return "better";
    case ChangeVerdict::worse:
      return "worse";
  }
  return "";
}

bool Changes::has_regression() const {
  return !losses.empty() ||
         std::any_of(quantities.begin(), quantities.end(), [](const Change& change) {
           return change.verdict == ChangeVerdict::worse;
         });
}

Changes compare_folders(const Summary& a, const Summary& b, double tolerance, OtherProblem other) {
  return Comparer(a, b, tolerance, other).compare();
}

Json to_json(const Changes& changes) {
  Json quantities = Json::array();
  for (const auto& change : changes.quantities) {
    Json interval = nullptr;
    if (change.difference) {
      interval = {json_number(change.difference->low), json_number(change.difference->high)};
    }
    quantities.push_back({{"method", change.method},
                          {"quantity", change.quantity},
                          {"verdict", name_of(change.verdict)},
                          {"pairs", change.pairs},
                          {"before", json_number(change.before)},
                          {"after", json_number(change.after)},
                          {"difference_interval", interval}});
  }
  return {{"regression", changes.has_regression()},
          {"confidence", changes.confidence},
          {"quantities", quantities},
          {"losses", changes.losses},
          {"notes", changes.notes}};
}

std::string changes_table(const Changes& changes) {
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.6g}", *value) : std::string("-");
  };
  std::vector<std::vector<std::string>> rows{
      {"method", "quantity", "before", "after", "interval of the difference", "n", "verdict"}};
  const auto names = names_of_methods(changes);
  std::size_t same = 0;
  for (const auto& change : changes.quantities) {
    if (change.verdict == ChangeVerdict::same) {
      ++same;
      continue;
    }
    const std::string interval =
        change.difference
            ? fmt::format("[{:.3g}, {:.3g}]", change.difference->low, change.difference->high)
            : "-";
    rows.push_back({change.method.empty() ? "all runs" : names.at(change.method),
                    std::string(change.quantity),
                    number(change.before),
                    number(change.after),
                    interval,
                    fmt::format("{}", change.pairs),
                    std::string(name_of(change.verdict))});
  }
  std::string text = rows.size() > 1 ? aligned(rows) : "";
  text += fmt::format("{} of {} quantities have the same bits\n", same, changes.quantities.size());
  for (const auto& loss : changes.losses) {
    text += fmt::format("lost: {}\n", harmless(loss));
  }
  for (const auto& note : changes.notes) {
    text += fmt::format("note: {}\n", harmless(note));
  }
  return text;
}

}  // namespace residuum::reports
