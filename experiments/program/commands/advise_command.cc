// `residuum advise` ranks the methods of a study by the time to a target on a network of the
// user's.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "core/error.h"
#include "core/text.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/study/network_section.h"
#include "reports/analysis/advice.h"
#include "reports/analysis/words.h"
#include "reports/results/result_folder.h"
#include "reports/terminal/table.h"

namespace residuum {
namespace {

using reports::Advice;
using reports::AdviceRequest;
using reports::AdvisedMethod;
using reports::Crossing;
using reports::json_number;
using reports::PathCosts;
using AdviceJson = reports::Json;

struct Unit {
  std::string_view name;
  double factor = 1;
};
constexpr std::array kBandwidths{
    Unit{"kbit", 1e3}, Unit{"mbit", 1e6}, Unit{"gbit", 1e9}, Unit{"bit", 1}};
constexpr std::array kDurations{Unit{"ns", 1e-9}, Unit{"us", 1e-6}, Unit{"ms", 1e-3}, Unit{"s", 1}};

/// Reads a number with one of the units behind it, such as "50us".
template <std::size_t n>
double quantity_in(const std::string& text,
                   std::string_view option,
                   const std::array<Unit, n>& units,
                   const char* example) {
  if (const auto found = leading_number<double>(text);
      found && std::isfinite(found->number) && found->number > 0) {
    for (const auto& unit : units) {
      if (found->rest == unit.name) {
        return found->number * unit.factor;
      }
    }
  }
  usage_error(
      "{} is '{}', but must be a number above 0 with its unit, such as {}", option, text, example);
}

Column quantity_named(const std::string& name) {
  constexpr std::array<std::pair<std::string_view, Column>, 3> kQuantities{
      {{"loss", Column::loss},
       {"loss-gap", Column::loss_gap},
       {"accuracy", Column::test_accuracy}}};
  for (const auto& [known, column] : kQuantities) {
    if (name == known) {
      return column;
    }
  }
  const std::vector<std::string> names{"loss", "loss-gap", "accuracy"};
  const std::string near = suggestion(name, names);
  usage_error("--target: unknown quantity '{}'{}",
              name,
              near.empty() ? "; it is loss, loss-gap or accuracy" : near);
}

/// Reads "loss=1.9", or "loss" alone.
void read_target(const std::string& text, AdviceRequest& request) {
  const auto equals = text.find('=');
  request.quantity = quantity_named(text.substr(0, equals));
  if (equals == std::string::npos) {
    return;
  }
  const auto number = parsed<double>(std::string_view(text).substr(equals + 1));
  require(number && std::isfinite(*number),
          "--target is '{}', but must be QUANTITY=NUMBER, such as loss=1.9",
          text);
  request.target = *number;
}

AdviceRequest advice_request(const AdviseOptions& given) {
  AdviceRequest request;
  request.beta_s_per_byte =
      ethernet_seconds_per_byte(quantity_in(given.bandwidth, "--bandwidth", kBandwidths, "1gbit"));
  request.alpha_s = quantity_in(given.latency, "--latency", kDurations, "50us");
  if (given.gradient) {
    request.gradient_s = quantity_in(*given.gradient, "--gradient", kDurations, "20ms");
  }
  require(!given.workers || (*given.workers >= 1 && *given.workers <= 1'000'000),
          "--workers is {}, but must be from 1 to 1000000",
          given.workers.value_or(0));
  if (given.workers) {
    request.workers = static_cast<int>(*given.workers);
  }
  if (given.target) {
    read_target(*given.target, request);
  }
  return request;
}

/// Returns the networks that a run followed, as its configuration has them.
reports::RunLinks links_of(const reports::Run& run) {
  const auto& config = reports::value_at(run.config, "config.network");
  const Section section("network", config.is_object() ? nlohmann::json(config) : nlohmann::json());
  const auto workers = reports::number_at(run.config, "config.workers.count").value_or(1);
  const auto read = read_network(section, static_cast<int>(workers), {});
  reports::RunLinks links;
  if (read.overlap.rule != OverlapRule::none) {
    links.why_not = "layers travel while gradients are computed, so that times do not add up";
  }
  if (run.facts.protocol.in_rounds) {
    links.why_not =
        "exchanges last while later gradients are computed, so that times do not add up";
  }
  for (const auto& network : read.networks) {
    if (network.workers_per_node > 1) {
      links.why_not = "its workers share links (workers_per_node), so that times do not add up";
    } else if (network.links.overhead_s > 0 || network.links.gap_s > 0) {
      links.why_not = "its network is LogGP's, whose overheads and gaps do not add up";
    }
    links.links.push_back({.name = network.name,
                           .alpha_s = network.links.alpha_s,
                           .beta_s_per_byte = network.links.beta_s_per_byte});
  }
  return links;
}

std::string seconds_text(double seconds, int digits = 3) {
  const auto text = [&](double value, const char* unit) {
    return fmt::format("{} {}", reports::short_number(value, digits), unit);
  };
  constexpr double kMilli = 1e-3;
  constexpr double kMicro = 1e-6;
  const double size = std::abs(seconds);
  if (size >= 1 || size == 0) {
    return text(seconds, "s");
  }
  return size >= kMilli ? text(seconds / kMilli, "ms") : text(seconds / kMicro, "us");
}

std::string bandwidth_text(double beta) {
  const double bits = ethernet_bits_per_second(beta);
  constexpr double kGiga = 1e9;
  constexpr double kMega = 1e6;
  constexpr double kRounding = 1 - 1e-9;  // 1 Gbit/s is not 1000 Mbit/s
  return bits >= kGiga * kRounding ? fmt::format("{:.3g} Gbit/s", bits / kGiga)
                                   : fmt::format("{:.3g} Mbit/s", bits / kMega);
}

/// Returns "below 52.1 Mbit/s": where the method is ahead of the best.
std::string crossing_words(const Crossing& crossing) {
  switch (crossing.of) {
    case Crossing::Of::beta:
      return fmt::format(
          "{} {}", crossing.is_beyond ? "below" : "above", bandwidth_text(crossing.value));
    case Crossing::Of::alpha:
      return fmt::format("at a latency {} {}",
                         crossing.is_beyond ? "above" : "below",
                         seconds_text(crossing.value));
    case Crossing::Of::work:
      return fmt::format("with gradients that take {} than {:.3g} times as long",
                         crossing.is_beyond ? "more" : "less",
                         crossing.value);
  }
  return {};
}

/// Changes of a network or of gradients by more than this factor are none that a user makes.
constexpr double kMostChange = 1000;

bool is_within_reach(const AdviceRequest& request, const Crossing& crossing) {
  const double now = crossing.of == Crossing::Of::beta    ? request.beta_s_per_byte
                     : crossing.of == Crossing::Of::alpha ? request.alpha_s
                                                          : 1;
  return crossing.value < now * kMostChange && crossing.value > now / kMostChange;
}

std::string change_words(const AdviceRequest& request, const AdvisedMethod& method) {
  std::string text;
  for (const auto& crossing : method.crossings) {
    if (is_within_reach(request, crossing)) {
      text += (text.empty() ? "" : ", or ") + crossing_words(crossing);
    }
  }
  return text;
}

/// The parts of a method's time, in percent.
std::vector<std::string> share_cells(const AdviceRequest& request, const PathCosts& mean) {
  const double all = request.seconds(mean);
  const double messages = request.alpha_s * mean.messages;
  const double bytes = request.beta_s_per_byte * mean.bytes;
  const auto percent_of = [&](double part) {
    return all > 0 ? fmt::format("{:.0f} %", 100 * part / all) : std::string("–");
  };
  return {percent_of(all - messages - bytes), percent_of(messages), percent_of(bytes)};
}

void print_advice_table(const AdviceRequest& request, const Advice& advice) {
  std::vector<std::vector<std::string>> rows{
      {"method", "seeds", "time", "behind the first", "iterations", "work", "latency", "bytes"}};
  const auto cell = [](const std::optional<double>& mean, const std::optional<Interval>& interval) {
    std::string text = mean ? seconds_text(*mean) : "–";
    if (interval) {
      text += fmt::format(" [{}, {}]", seconds_text(interval->low), seconds_text(interval->high));
    }
    return text;
  };
  for (std::size_t i = 0; i < advice.ranked; ++i) {
    const AdvisedMethod& method = advice.methods[i];
    std::vector<std::string> row{reports::printable(method.label),
                                 fmt::format("{}", method.costs.size()),
                                 cell(method.time.middle, method.time.interval),
                                 cell(method.behind_s, method.behind_interval),
                                 reports::short_number(method.mean->iterations)};
    for (auto& share : share_cells(request, *method.mean)) {
      row.push_back(std::move(share));
    }
    rows.push_back(std::move(row));
  }
  fmt::print("{}", reports::aligned_within(rows));
}

void print_unranked(const Advice& advice) {
  for (std::size_t i = advice.ranked; i < advice.methods.size(); ++i) {
    const AdvisedMethod& method = advice.methods[i];
    fmt::print("{} is not ranked: {}\n",
               reports::printable(method.label),
               !method.why_not.empty() ? method.why_not
                                       : fmt::format("{} of {} seeds reached the target",
                                                     method.reached(),
                                                     method.costs.size()));
  }
}

void print_changes(const AdviceRequest& request, const Advice& advice) {
  if (advice.ranked < 2) {
    return;
  }
  const auto first = reports::printable(advice.methods.front().label);
  if (!advice.best_is_decided()) {
    fmt::print("the first two do not differ significantly with these seeds\n");
  }
  bool changes = false;
  for (std::size_t i = 1; i < advice.ranked; ++i) {
    const auto words = change_words(request, advice.methods[i]);
    if (!words.empty()) {
      fmt::print(
          "{} is ahead of {} {}\n", reports::printable(advice.methods[i].label), first, words);
      changes = true;
    }
  }
  if (!changes) {
    fmt::print(
        "no other bandwidth, latency or time of a gradient puts another one first, up to a "
        "factor {}\n",
        kMostChange);
  }
}

AdviceJson costs_json(const AdviceRequest& request, const PathCosts& costs) {
  return {{"iterations", costs.iterations},
          {"gradients", costs.gradients},
          {"work_s", request.gradient_s ? *request.gradient_s * costs.gradients : costs.work_s},
          {"messages", costs.messages},
          {"bytes", costs.bytes},
          {"time_s", request.seconds(costs)}};
}

AdviceJson advised_interval_json(const std::optional<Interval>& interval) {
  return interval ? AdviceJson::array({interval->low, interval->high}) : AdviceJson();
}

AdviceJson crossings_json(const AdvisedMethod& method) {
  AdviceJson crossings = AdviceJson::array();
  for (const auto& crossing : method.crossings) {
    const char* const of = crossing.of == Crossing::Of::beta    ? "bandwidth_bit_s"
                           : crossing.of == Crossing::Of::alpha ? "latency_s"
                                                                : "gradient_factor";
    const bool is_bandwidth = crossing.of == Crossing::Of::beta;
    crossings.push_back(
        {{"of", of},
         {"value", is_bandwidth ? ethernet_bits_per_second(crossing.value) : crossing.value},
         {"ahead", crossing.is_beyond != is_bandwidth ? "above" : "below"}});
  }
  return crossings;
}

AdviceJson method_json(const AdviceRequest& request, const AdvisedMethod& method) {
  AdviceJson seeds = AdviceJson::array();
  for (std::size_t i = 0; i < method.costs.size(); ++i) {
    AdviceJson one = method.costs[i] && method.why_not.empty()
                         ? costs_json(request, *method.costs[i])
                         : AdviceJson::object();
    one["seed"] = method.seeds[i];
    seeds.push_back(std::move(one));
  }
  return {{"method", method.label},
          {"reached", method.reached()},
          {"why_not", method.why_not},
          {"time_s", method.mean ? json_number(method.time.middle) : AdviceJson()},
          {"interval", method.mean ? advised_interval_json(method.time.interval) : AdviceJson()},
          {"mean", method.mean ? costs_json(request, *method.mean) : AdviceJson()},
          {"behind_s", json_number(method.behind_s)},
          {"behind_interval", advised_interval_json(method.behind_interval)},
          {"ahead_if", crossings_json(method)},
          {"seeds", std::move(seeds)}};
}

void print_advice_json(const AdviceRequest& request, const Advice& advice, bool is_tuned) {
  AdviceJson methods = AdviceJson::array();
  for (const auto& method : advice.methods) {
    methods.push_back(method_json(request, method));
  }
  const AdviceJson all{{"quantity", kColumns[static_cast<std::size_t>(advice.quantity)].name},
                       {"target", advice.target},
                       {"bandwidth_bit_s", ethernet_bits_per_second(request.beta_s_per_byte)},
                       {"latency_s", request.alpha_s},
                       {"gradient_s", json_number(request.gradient_s)},
                       {"tuned", is_tuned},
                       {"decided", advice.best_is_decided()},
                       {"ranked", advice.ranked},
                       {"methods", std::move(methods)}};
  fmt::print("{}\n", all.dump(-1, ' ', false, AdviceJson::error_handler_t::replace));
}

void print_advice(const AdviceRequest& request, const Advice& advice, bool is_tuned) {
  fmt::print("time to {} {} over {} with a latency of {}; a gradient takes {}\n",
             kColumns[static_cast<std::size_t>(advice.quantity)].name,
             reports::short_number(advice.target),
             bandwidth_text(request.beta_s_per_byte),
             seconds_text(request.alpha_s),
             request.gradient_s ? seconds_text(*request.gradient_s)
                                : std::string("what it takes in the study"));
  print_advice_table(request, advice);
  print_unranked(advice);
  print_changes(request, advice);
  if (!is_tuned) {
    fmt::print("the study has not tuned the methods; another step may change the order\n");
  }
}

}  // namespace

ExitCode advise_command(const Options& options) {
  const AdviceRequest request = advice_request(options.advise);
  const auto folder = reports::read_result_folders(options.result_dirs);
  require(folder.mixed_data.empty(), "{}", folder.mixed_data);
  const auto advice = reports::advise(folder, reports::group_runs(folder), links_of, request);
  const bool is_tuned = !folder.tune.is_null();
  if (options.json) {
    print_advice_json(request, advice, is_tuned);
  } else {
    print_advice(request, advice, is_tuned);
  }
  return ExitCode::done;
}

}  // namespace residuum
