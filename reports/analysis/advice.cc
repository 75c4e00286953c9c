#include "reports/analysis/advice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include "core/error.h"
#include "core/record/tables.h"
#include "reports/analysis/groups.h"
#include "reports/analysis/measures.h"
#include "reports/results/csv.h"

namespace residuum::reports {
namespace {

/// The seconds of work and of messages that a run had spent before one iteration, on one network.
struct SpentOnPath {
  double work_s = 0;
  double wire_s = 0;
};

/// A run's values of the quantity by iteration, the last one after the last step, and what it had
/// spent before each iteration that has a row, by network. If the iteration before has no row, work
/// and messages of the iteration itself are taken in the proportion that they had until then.
struct AdvisedRun {
  std::map<std::uint64_t, double> values;
  std::map<std::string, std::map<std::uint64_t, SpentOnPath>> spent;
  std::optional<double> rounds;  // of every iteration; absent where they differ
  double local_steps = 1;        // gradients of a worker in an iteration
  bool has_diverged = false;
};

void read_path(const std::filesystem::path& file, const Run& run, AdvisedRun& read) {
  CsvReader reader(file);
  const std::size_t iteration = reader.column("iteration");
  const std::size_t network = reader.column(kNetworksTable.key);
  const std::size_t wire = reader.column("wire_s");
  const std::size_t total = reader.column("virtual_s");
  const std::size_t alone = reader.column("iteration_s");
  const auto number = [&](std::size_t column) {
    const auto value = reader.number(column);
    if (!value || !std::isfinite(*value) || *value < 0) {
      reader.fail("a time is missing, not finite or below 0");
    }
    return *value;
  };
  while (reader.next()) {
    if (reader.text(0) != run.id) {
      reader.fail(fmt::format("the record is of another run: '{}'", reader.text(0)));
    }
    auto& spent = read.spent[reader.text(network)];
    const std::uint64_t t = reader.integer(iteration);
    const double all = number(total);
    const double on_wire = number(wire);
    const double before = all > 0 ? std::max(0.0, 1 - number(alone) / all) : 0;
    spent.try_emplace(t,
                      SpentOnPath{.work_s = before * (all - on_wire), .wire_s = before * on_wire});
    spent[t + 1] = {.work_s = all - on_wire, .wire_s = on_wire};
  }
}

AdvisedRun read_advised(const Run& run, Column quantity) {
  AdvisedRun read;
  read.has_diverged = run.state == "diverged";
  read.local_steps = static_cast<double>(run.facts.protocol.local_steps);
  bool is_even = true;
  read_iterations(run.folder / "iterations.csv", run.id, [&](const IterationRecord& record) {
    if (const auto value = record.get(quantity)) {
      read.values[record.iteration()] = *value;
    }
    if (const auto rounds = record.get(Column::rounds)) {
      is_even = is_even && (!read.rounds || *read.rounds == *rounds);
      read.rounds = *rounds;
    }
  });
  if (!is_even) {
    read.rounds.reset();
  }
  const auto end = number_at(run.status, "iterations");
  const auto last = number_at(run.status, final_path(quantity));
  if (end && last && !read.has_diverged) {
    read.values[static_cast<std::uint64_t>(*end)] = *last;
  }
  const auto file = run.folder / (std::string(kNetworksTable.name) + ".csv");
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    read_path(file, run, read);
  }
  return read;
}

bool is_at(Column quantity, double value, double target) {
  return quantity == Column::test_accuracy ? value >= target : value <= target;
}

/// Returns the best value of a run; nothing where it was never evaluated to a number.
std::optional<double> best_value(const AdvisedRun& run, Column quantity) {
  std::optional<double> best;
  for (const auto& [iteration, value] : run.values) {
    if (std::isfinite(value) && (!best || is_at(quantity, value, *best))) {
      best = value;
    }
  }
  return best;
}

/// Returns the iteration before which the run was first evaluated at the target.
std::optional<std::uint64_t> iteration_at(const AdvisedRun& run, Column quantity, double target) {
  for (const auto& [iteration, value] : run.values) {
    if (is_at(quantity, value, target)) {
      return iteration;
    }
  }
  return std::nullopt;
}

constexpr const char* kNoNetwork =
    "its study followed no network in lockstep; give network.model, and for late gradients the "
    "network that is asked for";
constexpr const char* kOneNetwork =
    "its iterations have different numbers of messages; give network.model two networks, such as "
    "[\"1gbe\", \"10gbe\"]";

/// Returns what the run had spent on a network before an iteration; null where that has no row.
const SpentOnPath* spent_before(const AdvisedRun& run,
                                const std::string& network,
                                std::uint64_t iteration) {
  const auto on = run.spent.find(network);
  if (on == run.spent.end()) {
    return nullptr;
  }
  const auto found = on->second.find(iteration);
  return found == on->second.end() ? nullptr : &found->second;
}

/// Two networks whose messages take times that are no multiples of each other; else null.
std::pair<const AdvisedLink*, const AdvisedLink*> independent_links(
    const std::vector<AdvisedLink>& links) {
  constexpr double kLeastShare = 1e-6;
  for (std::size_t i = 0; i < links.size(); ++i) {
    for (std::size_t j = i + 1; j < links.size(); ++j) {
      const double one = links[i].alpha_s * links[j].beta_s_per_byte;
      const double other = links[j].alpha_s * links[i].beta_s_per_byte;
      if (std::abs(one - other) > kLeastShare * std::max(one, other)) {
        return {&links[i], &links[j]};
      }
    }
  }
  return {nullptr, nullptr};
}

/// Sets messages and bytes of the critical path; returns why they cannot be known.
std::string set_path(const AdvisedRun& run,
                     const std::vector<AdvisedLink>& links,
                     std::uint64_t iteration,
                     PathCosts& costs) {
  std::vector<AdvisedLink> followed;
  for (const auto& link : links) {
    if (spent_before(run, link.name, iteration) != nullptr) {
      followed.push_back(link);
    }
  }
  if (followed.empty()) {
    return "networks.csv has no row of the iteration at which it reached the target";
  }
  costs.work_s = spent_before(run, followed.front().name, iteration)->work_s;
  const auto [one, other] = independent_links(followed);
  if (one != nullptr) {
    const double first = spent_before(run, one->name, iteration)->wire_s;
    const double second = spent_before(run, other->name, iteration)->wire_s;
    const double determinant =
        one->alpha_s * other->beta_s_per_byte - other->alpha_s * one->beta_s_per_byte;
    costs.messages = (first * other->beta_s_per_byte - second * one->beta_s_per_byte) / determinant;
    costs.bytes = (one->alpha_s * second - other->alpha_s * first) / determinant;
    return {};
  }
  const AdvisedLink& link = followed.front();
  if (!run.rounds || link.beta_s_per_byte <= 0) {
    return kOneNetwork;
  }
  costs.messages = *run.rounds * static_cast<double>(iteration);
  costs.bytes =
      std::max(0.0,
               (spent_before(run, link.name, iteration)->wire_s - link.alpha_s * costs.messages) /
                   link.beta_s_per_byte);
  return {};
}

/// Reads what a run spent until the target, or notes why that is not known.
std::optional<PathCosts> costs_to_target(const AdvisedRun& run,
                                         const RunLinks& links,
                                         const Advice& advice,
                                         std::string& why_not) {
  const auto iteration = iteration_at(run, advice.quantity, advice.target);
  if (!iteration) {
    return std::nullopt;
  }
  PathCosts costs{.iterations = static_cast<double>(*iteration),
                  .gradients = static_cast<double>(*iteration) * run.local_steps};
  if (!links.why_not.empty()) {
    why_not = links.why_not;
  } else if (run.spent.empty()) {
    why_not = kNoNetwork;
  } else {
    why_not = set_path(run, links.links, *iteration, costs);
  }
  return costs;
}

PathCosts mean_of(const std::vector<std::optional<PathCosts>>& all) {
  PathCosts mean;
  for (const auto& one : all) {
    mean.iterations += one->iterations;
    mean.gradients += one->gradients;
    mean.work_s += one->work_s;
    mean.messages += one->messages;
    mean.bytes += one->bytes;
  }
  const auto n = static_cast<double>(all.size());
  return {.iterations = mean.iterations / n,
          .gradients = mean.gradients / n,
          .work_s = mean.work_s / n,
          .messages = mean.messages / n,
          .bytes = mean.bytes / n};
}

double work_of(const AdviceRequest& request, const PathCosts& costs) {
  return request.gradient_s ? *request.gradient_s * costs.gradients : costs.work_s;
}

/// Adds where a difference `rest + slope x`, which is above 0 at `now`, is 0.
void add_crossing(
    Crossing::Of of, double rest, double slope, double now, std::vector<Crossing>& crossings) {
  const double value = -rest / slope;
  if (slope != 0 && std::isfinite(value) && value > 0) {
    crossings.push_back({.of = of, .value = value, .is_beyond = value > now});
  }
}

/// Returns where a method is as fast as the best one, by the means.
std::vector<Crossing> crossings_of(const AdviceRequest& request,
                                   const PathCosts& best,
                                   const PathCosts& method) {
  const double work = work_of(request, method) - work_of(request, best);
  const double alpha = method.messages - best.messages;
  const double beta = method.bytes - best.bytes;
  std::vector<Crossing> crossings;
  add_crossing(
      Crossing::Of::beta, work + request.alpha_s * alpha, beta, request.beta_s_per_byte, crossings);
  add_crossing(Crossing::Of::alpha,
               work + request.beta_s_per_byte * beta,
               alpha,
               request.alpha_s,
               crossings);
  add_crossing(Crossing::Of::work,
               request.alpha_s * alpha + request.beta_s_per_byte * beta,
               work,
               1,
               crossings);
  return crossings;
}

/// Sets how far each ranked method is behind the first, over the seeds that both have.
void compare_with_best(const AdviceRequest& request, Advice& advice) {
  const AdvisedMethod& best = advice.methods.front();
  for (std::size_t i = 1; i < advice.ranked; ++i) {
    AdvisedMethod& method = advice.methods[i];
    std::vector<double> behind;
    for (std::size_t one = 0; one < method.seeds.size(); ++one) {
      const auto same = std::find(best.seeds.begin(), best.seeds.end(), method.seeds[one]);
      if (same != best.seeds.end()) {
        const auto other = static_cast<std::size_t>(same - best.seeds.begin());
        behind.push_back(request.seconds(*method.costs[one]) - request.seconds(*best.costs[other]));
      }
    }
    method.behind_s = mean(behind);
    method.behind_interval = student_interval(behind);
    method.crossings = crossings_of(request, *best.mean, *method.mean);
  }
}

/// Sets the mean time of a method whose costs are known.
void set_time(const AdviceRequest& request, AdvisedMethod& method) {
  if (!method.why_not.empty()) {
    return;
  }
  std::vector<double> seconds;
  for (const auto& one : method.costs) {
    seconds.push_back(one ? request.seconds(*one) : std::numeric_limits<double>::infinity());
  }
  method.time = centre_with_misses(seconds, IntervalKind::student);
  if (method.reached() == method.costs.size()) {
    method.mean = mean_of(method.costs);
  }
}

/// The ranked ones come first, then those that missed the target, then those of unknown costs.
bool comes_before(const AdvisedMethod& a, const AdvisedMethod& b) {
  if (a.mean && b.mean) {
    return *a.time.middle < *b.time.middle;
  }
  if (a.mean || b.mean) {
    return a.mean.has_value();
  }
  return a.why_not.empty() && !b.why_not.empty();
}

/// Orders the methods and sets times of those that reached the target with every seed.
void rank(const AdviceRequest& request, Advice& advice) {
  for (auto& method : advice.methods) {
    set_time(request, method);
  }
  std::stable_sort(advice.methods.begin(), advice.methods.end(), comes_before);
  advice.ranked = static_cast<std::size_t>(
      std::count_if(advice.methods.begin(), advice.methods.end(), [](const AdvisedMethod& one) {
        return one.mean.has_value();
      }));
  if (advice.ranked > 0) {
    compare_with_best(request, advice);
  }
}

int workers_of(const Run& run) { return static_cast<int>(run.facts.workers); }

/// Returns the groups that are asked for, and refuses workers that no method has.
std::vector<std::size_t> asked_groups(const ResultFolder& folder,
                                      const std::vector<Group>& groups,
                                      const Field& field,
                                      const std::optional<int>& workers) {
  std::set<int> known;
  std::vector<std::size_t> asked;
  for (const std::size_t group : field.groups) {
    const int own = workers_of(folder.runs[groups[group].runs.front()]);
    known.insert(own);
    if (!workers || own == *workers) {
      asked.push_back(group);
    }
  }
  require(!asked.empty(),
          "--workers is {}, but the runs have {}: how many iterations more workers need is not "
          "known from fewer; run the study with workers.count = {}",
          workers.value_or(0),
          fmt::join(known, ", "),
          workers.value_or(0));
  return asked;
}

/// Reads the runs of a method that have ended.
std::vector<AdvisedRun> read_method(const ResultFolder& folder,
                                    const Group& group,
                                    Column quantity,
                                    AdvisedMethod& method) {
  std::vector<AdvisedRun> runs;
  for (const std::size_t i : group.runs) {
    if (folder.runs[i].has_tables()) {
      method.seeds.push_back(folder.runs[i].seed);
      runs.push_back(read_advised(folder.runs[i], quantity));
    }
  }
  method.why_not = runs.empty() ? "no run of it ended" : "";
  return runs;
}

/// Returns the best value that every run has reached which did not diverge.
std::optional<double> common_target(const std::vector<std::vector<AdvisedRun>>& methods,
                                    Column quantity) {
  std::optional<double> target;
  for (const auto& runs : methods) {
    for (const auto& run : runs) {
      const auto best = run.has_diverged ? std::nullopt : best_value(run, quantity);
      if (best && (!target || is_at(quantity, *target, *best))) {
        target = best;
      }
    }
  }
  return target;
}

}  // namespace

double AdviceRequest::seconds(const PathCosts& costs) const {
  return work_of(*this, costs) + alpha_s * costs.messages + beta_s_per_byte * costs.bytes;
}

std::size_t AdvisedMethod::reached() const {
  return static_cast<std::size_t>(
      std::count_if(costs.begin(), costs.end(), [](const auto& one) { return one.has_value(); }));
}

bool Advice::best_is_decided() const {
  return ranked > 1 && methods[1].behind_interval && methods[1].behind_interval->low > 0;
}

Advice advise(const ResultFolder& folder,
              const std::vector<Group>& groups,
              const LinksOfRun& links_of,
              const AdviceRequest& request) {
  const auto fields = fields_of(folder, groups);
  require(!fields.empty(), "'{}' has no run that ended", folder.path.string());
  require(fields.size() == 1,
          "'{}' has runs on {} objectives, which have no target in common; report one of them",
          folder.path.string(),
          fields.size());
  const auto asked = asked_groups(folder, groups, fields.front(), request.workers);
  Advice advice;
  advice.quantity = request.quantity.value_or(quantity_of(folder, fields.front()));
  std::vector<std::vector<AdvisedRun>> runs;
  for (const std::size_t group : asked) {
    AdvisedMethod& method = advice.methods.emplace_back();
    method.group = group;
    method.label = groups[group].label;
    runs.push_back(read_method(folder, groups[group], advice.quantity, method));
  }
  const auto target = request.target ? request.target : common_target(runs, advice.quantity);
  require(target.has_value(),
          "no run was evaluated in {}; see probes.evaluate and probes.test",
          kColumns[static_cast<std::size_t>(advice.quantity)].name);
  advice.target = *target;
  for (std::size_t m = 0; m < advice.methods.size(); ++m) {
    AdvisedMethod& method = advice.methods[m];
    const RunLinks links = links_of(folder.runs[groups[method.group].runs.front()]);
    for (const auto& run : runs[m]) {
      method.costs.push_back(costs_to_target(run, links, advice, method.why_not));
    }
  }
  rank(request, advice);
  return advice;
}

}  // namespace residuum::reports
