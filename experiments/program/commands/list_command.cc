#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "assumptions/probes/probe.h"
#include "assumptions/theorems/theorem.h"
#include "core/aggregators/aggregator.h"
#include "core/error.h"
#include "core/feedback/feedback.h"
#include "core/optimisers/optimiser.h"
#include "core/protocols/protocol.h"
#include "core/quantisers/quantiser.h"
#include "core/record/run_facts.h"
#include "core/sparsifiers/sparsifier.h"
#include "experiments/program/commands/commands.h"
#include "experiments/program/console/streams.h"
#include "experiments/program/runs/provenance.h"
#include "experiments/program/study/network_section.h"
#include "experiments/program/study/study_keys.h"
#include "objectives/data/catalogue.h"
#include "objectives/network_module.h"
#include "objectives/registry.h"
#include "reports/summaries/collect.h"

namespace residuum {
namespace {

/// A cell of a table ends at a bar, and Markdown takes what looks like a tag for one.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '|') {
      safe += "\\|";
    } else if (c == '<') {
      safe += "&lt;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string code(const std::string& text) {
  return text.empty() ? text : fmt::format("`{}`", text);
}

std::string table_of(const ReferenceGroup& group, const std::vector<std::string>& heads) {
  const bool has_source = std::any_of(group.lines.begin(), group.lines.end(), [](const auto& line) {
    return !line.source.empty();
  });
  std::string text =
      has_source ? fmt::format("| {} | {} | {} |\n|---|---|---|\n", heads[0], heads[1], heads[2])
                 : fmt::format("| {} | {} |\n|---|---|\n", heads[0], heads[2]);
  for (const auto& line : group.lines) {
    text += has_source
                ? fmt::format(
                      "| {} | {} | {} |\n", code(line.name), cell(line.source), cell(line.summary))
                : fmt::format("| {} | {} |\n", code(line.name), cell(line.summary));
  }
  return text;
}

/// Returns the text below a table: a section of its own for each line with a longer description.
std::string sections_of(const ReferenceGroup& group) {
  std::string text;
  for (const auto& line : group.lines) {
    if (line.parts.empty()) {
      continue;
    }
    text += fmt::format("\n{} {}\n", group.title.empty() ? "##" : "###", code(line.name));
    for (const auto& part : line.parts) {
      if (part.in_one_line) {
        text += fmt::format(
            "\n{}: {}\n", part.head, cell(fmt::to_string(fmt::join(part.points, ", "))));
        continue;
      }
      text += fmt::format("\n{}:\n\n", part.head);
      for (const auto& point : part.points) {
        text += fmt::format("- {}\n", cell(point));
      }
    }
  }
  return text;
}

}  // namespace

std::string as_markdown(const Reference& reference) {
  std::string page = fmt::format(
      "# {}\n\nThis page is made by `residuum list {} --format markdown`; do not edit it.\n",
      reference.title,
      reference.name);
  page += reference.text.empty() ? "" : fmt::format("\n{}\n", reference.text);
  for (const auto& group : reference.groups) {
    page += group.title.empty() ? "" : fmt::format("\n## {}\n", group.title);
    page += group.text.empty() ? "" : fmt::format("\n{}\n", cell(group.text));
    page += group.lines.empty() ? "" : "\n" + table_of(group, reference.heads);
    page += sections_of(group);
  }
  return page;
}

// `residuum list` prints what can be named in a study, one line each, with the paper it comes from,
// and what columns, facts of a run, keys and commands there are.

namespace {

// --- Laws of components --------------------------------------------------------------------------

// The laws in words: what theorems, verdicts and predictions may rely on. They are asked of the
// component that its example builds, for vectors of 1000 numbers and for 8 workers.

constexpr std::size_t kDimension = 1000;
constexpr int kWorkers = 8;

using Points = std::vector<std::string>;

/// Describes the built component, if there is something to say of it.
Points example_points(std::string_view example) {
  return example == "{}" ? Points() : Points{fmt::format("Built with `{}`", example)};
}

void add_if(bool holds, Points& points, std::string text) {
  if (holds) {
    points.push_back(std::move(text));
  }
}

std::string_view synchrony_text(Synchrony synchrony) {
  switch (synchrony) {
    case Synchrony::lockstep:
      return "Workers take gradients at one model and exchange in every version";
    case Synchrony::periodic:
      return "Workers step on models of their own and exchange now and then";
    case Synchrony::late:
      return "A version may be made of gradients that were taken at older versions";
    case Synchrony::neighbours:
      break;
  }
  return "Each worker has a model of its own and exchanges with its neighbours in every version";
}

/// Builds a component by its example, as the law tests do.
template <class Interface>
std::unique_ptr<Interface> example_of(const char* section, const Entry<Interface>& entry) {
  return entry.make(example_section(section, entry));
}

std::vector<std::string> law_of(const Entry<Sparsifier>& entry) {
  const auto sparsifier = example_of("sparsifier", entry);
  const SparsifierLaw law = sparsifier->law(kDimension, 1);
  const auto k = sparsifier->k(kDimension);
  Points points = example_points(entry.example);
  points.push_back(k ? fmt::format("A worker sends at most {} of {} entries", *k, kDimension)
                     : "The data decide how many entries a worker sends");
  if (law.contraction) {
    points.push_back(fmt::format("E‖a − C(a)‖² {} (1 − α)‖a‖² with α = {:.6g}, {}",
                                 law.exact ? "=" : "≤",
                                 *law.contraction,
                                 law.pathwise ? "for each draw" : "in expectation"));
  }
  add_if(law.threshold.has_value(),
         points,
         law.threshold_scales
             ? "Every entry that is not sent is below a threshold proportional to the step size"
             : "Every entry that is not sent is below a fixed threshold");
  add_if(law.keeps_largest, points, "C(a) are the k largest entries of all d");
  add_if(law.keeps_values, points, "Entries are sent unchanged");
  add_if(law.unbiased, points, "E C(a) = a");
  add_if(law.shares_support, points, "All workers send the same indices, chosen without their a");
  add_if(law.deterministic, points, "No draw enters C(a)");
  add_if(!law.deterministic && !law.reuses_threshold, points, "Draws may enter C(a)");
  add_if(law.reuses_threshold, points, "C(a) depends on earlier messages by its threshold");
  return points;
}

std::vector<std::string> law_of(const Entry<Quantiser>& entry) {
  const auto quantiser = example_of("quantiser", entry);
  const QuantiserLaw law = quantiser->law(kDimension);
  Points points = example_points(entry.example);
  points.push_back(
      fmt::format("{} of {} values take {} bytes",
                  law.bits == 1 ? "Codes of 1 bit" : fmt::format("Codes of {} bits", law.bits),
                  kDimension,
                  quantiser->packed_bytes(kDimension, sizeof(float))));
  if (law.contraction) {
    points.push_back(fmt::format("E‖x − Q(x)‖² ≤ (1 − α)‖x‖² with α = {:.6g}", *law.contraction));
  }
  if (law.variance) {
    points.push_back(
        fmt::format("E Q(x) = x and E‖Q(x) − x‖² ≤ ω‖x‖² with ω = {:.6g}", *law.variance));
  }
  points.push_back(law.random ? "Draws enter Q(x)" : "No draw enters Q(x)");
  return points;
}

std::vector<std::string> law_of(const Entry<Aggregator>& entry) {
  const auto aggregator = example_of("aggregator", entry);
  const AggregatorLaw law = aggregator->law();
  Points points = example_points(entry.example);
  add_if(law.applies_whole_messages, points, "g is the sum of the messages");
  add_if(law.approximates_sum, points, "g approximates the sum of the whole accumulators");
  add_if(law.weighs_messages, points, "g is not the plain mean of the messages");
  add_if(law.is_sparse, points, "g has at most k entries");
  add_if(law.selects_largest, points, "Sums of messages are cut to their k largest entries");
  add_if(law.completes_support, points, "On its support g is the sum of all accumulators");
  add_if(law.drops_in_merges, points, "A merge may drop an entry of one branch that g contains");
  add_if(law.dropped_stay_with_senders, points, "What a merge drops stays with those that sent it");
  add_if(law.forwards_messages, points, "Messages arrive as they were sent, so they may be codes");
  add_if(law.shifts_model, points, "Workers take gradients at a shift of the model");
  add_if(law.carries_vectors, points, "Workers send vectors of d numbers");
  add_if(aggregator->needs_k(), points, "The sparsifier must have a k");
  return points;
}

std::vector<std::string> law_of(const Entry<Feedback>& entry) {
  const auto feedback = example_of("feedback", entry);
  const bool conserves = feedback->conserves(AggregatorLaw(), false, kWorkers);
  Points points = example_points(entry.example);
  points.push_back(fmt::format(
      "A worker's memory has {} of d numbers",
      feedback->vectors() == 1 ? "one vector" : fmt::format("{} vectors", feedback->vectors())));
  add_if(feedback->estimates(), points, "Workers exchange changes of gradient estimates");
  add_if(feedback->controls_error(), points, "It sums up what the estimates have missed");
  add_if(feedback->has_velocity(), points, "A velocity takes the place of the gradient");
  points.push_back(conserves ? "Nothing is lost where every message is applied as it was sent"
                             : fmt::format("Mass is lost: {}", feedback->loss()));
  return points;
}

std::vector<std::string> law_of(const Entry<Optimiser>& entry) {
  const auto optimiser = example_of("worker", entry);
  Points points = example_points(entry.example);
  points.push_back(fmt::format(
      "A worker's memory has {} of d numbers",
      optimiser->vectors() == 1 ? "one vector" : fmt::format("{} vectors", optimiser->vectors())));
  add_if(optimiser->gain() != 1,
         points,
         fmt::format("One gradient moves the model by {:.6g} η times the gradient in the end",
                     optimiser->gain()));
  return points;
}

std::vector<std::string> law_of(const Entry<Protocol>& entry) {
  const auto protocol = example_of("protocol", entry);
  const ProtocolLaw law = protocol->law(kWorkers);
  Points points = example_points(entry.example);
  points.emplace_back(synchrony_text(law.synchrony));
  add_if(law.local_steps > 1, points, fmt::format("Local steps H = {}", law.local_steps));
  points.push_back(law.staleness ? fmt::format("Staleness τ ≤ {}", *law.staleness)
                                 : "Staleness has no limit");
  points.push_back(law.contributions ? fmt::format("Gradients in a version: {}", *law.contributions)
                                     : "The number of gradients in a version varies");
  if (law.spectral_gap) {
    points.push_back(fmt::format("Spectral gap 1 − |λ_2| = {:.6g}", *law.spectral_gap));
  }
  add_if(!law.contributions_weigh_alike, points, "A version is no plain mean of its gradients");
  add_if(law.times_gradients, points, "The study says how long gradients take in virtual time");
  add_if(
      law.may_leave_out, points, "A study may let some workers make a version (`participation`)");
  return points;
}

// --- What can be named ---------------------------------------------------------------------------

using Groups = std::vector<ReferenceGroup>;

Groups one_group(std::vector<ReferenceLine> lines) {
  return {{.prefix = "", .title = "", .text = "", .lines = std::move(lines)}};
}

/// The columns that a probe fills in, with what they are.
std::vector<ReferencePart> parts_of(const Entry<Probe>& entry) {
  ReferencePart columns{.head = "Columns", .points = {}};
  for (const Column column : entry.make(example_section("probes", entry))->columns()) {
    const ColumnInfo& info = kColumns[static_cast<std::size_t>(column)];
    columns.points.push_back(fmt::format("`{}`: {}", info.name, info.meaning));
  }
  return {std::move(columns)};
}

/// The law of a component; nothing of what has none.
template <class Any>
std::vector<ReferencePart> parts_of(const Any& entry) {
  if constexpr (requires { law_of(entry); }) {
    return {{.head = "Law", .points = law_of(entry)}};
  }
  return {};
}

template <class Entries>
Groups lines_of(const Entries& entries) {
  std::vector<ReferenceLine> lines;
  lines.reserve(entries.size());
  for (const auto& entry : entries) {
    lines.push_back({.name = std::string(entry.name),
                     .summary = std::string(entry.summary),
                     .source = std::string(entry.source),
                     .parts = parts_of(entry)});
  }
  return one_group(std::move(lines));
}

Groups datasets_by_name() {
  std::vector<ReferenceLine> lines;
  lines.reserve(datasets().size());
  for (const auto& entry : datasets()) {
    lines.push_back({.name = entry.name, .summary = entry.summary, .source = entry.terms});
  }
  return one_group(std::move(lines));
}

Groups theorems_by_name() {
  std::vector<ReferenceLine> lines;
  for (const auto& theorem : theorems()) {
    Demands demands = demands_of(theorem);
    lines.push_back(
        {.name = std::string(theorem.name),
         .summary = std::string(theorem.statement),
         .source = std::string(theorem.paper),
         .parts = {
             {.head = "Preconditions", .points = std::move(demands.preconditions)},
             {.head = "Constants", .points = std::move(demands.constants), .in_one_line = true}}});
  }
  return one_group(std::move(lines));
}

/// The columns of iterations.csv come first and by their names, those of other tables as
/// workers.NAME.
Groups columns_by_table() {
  Groups groups;
  const auto package = reports::data_package_of_all_tables();
  for (const auto& table : package.at("resources")) {
    const auto name = table.at("name").get<std::string>();
    const bool is_first = name == "iterations";
    ReferenceGroup group{.prefix = is_first ? "" : name + '.',
                         .title = table.at("path").get<std::string>(),
                         .text = "",
                         .lines = {}};
    for (const auto& field : table.at("schema").at("fields")) {
      group.lines.push_back({.name = field.at("name").get<std::string>(),
                             .summary = field.value("description", ""),
                             .source = field.value("unit", "")});
    }
    groups.insert(is_first ? groups.begin() : groups.end(), std::move(group));
  }
  return groups;
}

/// The fields of a run's record by the objects of status.json that they stand in.
Groups facts_by_object() {
  const auto object_of = [](std::string_view path) {
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot + 1);
  };
  Groups groups;
  visit_fact_fields([&](const FactField& field, const auto& /*place*/) {
    const std::string prefix(object_of(field.path));
    if (groups.empty() || groups.back().prefix != prefix) {
      groups.push_back({.prefix = prefix,
                        .title = prefix.empty() ? "The run" : prefix.substr(0, prefix.size() - 1),
                        .text = "",
                        .lines = {}});
    }
    groups.back().lines.push_back({.name = std::string(field.path.substr(prefix.size())),
                                   .summary = std::string(field.meaning),
                                   .source = field.unit.empty()
                                                 ? std::string(field.type)
                                                 : fmt::format("{}, {}", field.type, field.unit)});
  });
  return groups;
}

Groups keys_by_section() {
  Groups groups;
  for (const auto& key : study_keys()) {
    const std::string section(key.section);
    const std::string title = section.empty() ? "The study" : fmt::format("[{}]", section);
    if (groups.empty() || groups.back().title != title) {
      groups.push_back({.prefix = section.empty() ? "" : section + '.',
                        .title = title,
                        .text = "",
                        .lines = {}});
    }
    groups.back().lines.push_back({.name = std::string(key.name),
                                   .summary = std::string(key.meaning),
                                   .source = std::string(key.fallback)});
  }
  return groups;
}

struct Room {
  const char* name;
  const char* title;
  std::vector<std::string> heads;
  std::function<Groups()> groups;
  bool is_of_others = false;  // its lines are those of other rooms
  const char* text = "";      // below the title of its page
};

/// Returns the lines of the first rooms, each under its title.
Groups joined_groups(const std::vector<Room>& rooms, std::size_t first) {
  Groups joined;
  for (std::size_t i = 0; i < first; ++i) {
    for (auto& group : rooms[i].groups()) {
      group.title = rooms[i].title;
      joined.push_back(std::move(group));
    }
  }
  return joined;
}

std::vector<Room> rooms(const Groups& commands) {
  const std::vector<std::string> named{"name", "source", "summary"};
  std::vector<Room> all{
      {"objectives", "Objectives", named, [] { return lines_of(objectives()); }},
      {"datasets", "Data sets", {"name", "terms", "summary"}, datasets_by_name},
      {"sparsifiers", "Sparsifiers", named, [] { return lines_of(sparsifiers()); }},
      {"quantisers", "Quantisers", named, [] { return lines_of(quantisers()); }},
      {"optimisers", "Optimisers of workers", named, [] { return lines_of(optimisers()); }},
      {"aggregators", "Aggregators", named, [] { return lines_of(aggregators()); }},
      {"feedback", "Feedback", named, [] { return lines_of(feedbacks()); }},
      {"protocols", "Protocols", named, [] { return lines_of(protocols()); }},
      {"networks", "Networks", named, [] { return lines_of(named_networks()); }},
      {"probes",
       "Probes",
       named,
       [] { return lines_of(probes()); },
       false,
       "A probe fills in columns of `iterations.csv`. Symbols are in the "
       "[glossary](../guide/glossary.md)."},
      {"theorems",
       "Theorems",
       {"name", "paper", "statement"},
       theorems_by_name,
       false,
       "X_T is the mean of ‖∇f‖² over T iterations, weighted by their step sizes. Below the "
       "table "
       "stand, for each\ntheorem, what it asks of a method and its constants. Symbols are in the "
       "[glossary](../guide/glossary.md)."},
      {"columns", "Columns of the tables", {"column", "unit", "meaning"}, columns_by_table},
      {"facts",
       "Facts of a run",
       {"field", "type, unit", "meaning"},
       facts_by_object,
       false,
       "`status.json` says what a run was by these fields; probes, theorems and verdicts go by "
       "them. A law holds\nwhatever is sent. A field that is not there is not known. Symbols are "
       "in the [glossary](../guide/glossary.md)."},
      {"keys", "Keys of a study", {"key", "default", "meaning"}, keys_by_section},
      {"commands", "Commands and their options", {"option", "", "meaning"}, [commands] {
         return commands;
       }}};
  // The components are the rooms before "probes": a study names them in its sections. Probes,
  // theorems and the rooms after them are no part of a method.
  const auto components = static_cast<std::size_t>(
      std::find_if(all.begin(),
                   all.end(),
                   [](const Room& room) { return std::string_view(room.name) == "probes"; }) -
      all.begin());
  all.push_back(
      {"components",
       "Components",
       named,
       [all, components] { return joined_groups(all, components); },
       true,
       "A law is what theorems, verdicts and predictions may rely on. Numbers in laws are "
       "those of vectors of\n1000 numbers and 8 workers."});
  return all;
}

void print(const Room& room, bool with_title) {
  if (with_title) {
    fmt::print("{}\n", room.name);
  }
  for (const auto& group : room.groups()) {
    for (const auto& line : group.lines) {
      const std::string source = line.source.empty() ? "" : fmt::format("  [{}]", line.source);
      fmt::print("{}{:<22} {}{}\n",
                 with_title ? "  " : "",
                 group.prefix + line.name,
                 line.summary,
                 source);
    }
  }
}

nlohmann::json as_json(const Groups& groups) {
  auto list = nlohmann::json::array();
  for (const auto& group : groups) {
    for (const auto& line : group.lines) {
      nlohmann::json one{
          {"name", group.prefix + line.name}, {"summary", line.summary}, {"source", line.source}};
      for (const auto& part : line.parts) {
        std::string key = part.head;
        key[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(key[0])));
        one[key] = part.points;
      }
      list.push_back(std::move(one));
    }
  }
  return list;
}

}  // namespace

ExitCode list_command(const Options& options, const std::vector<ReferenceGroup>& commands) {
  require(!options.json || options.list_format == "text", "--json and --format: give one of them");
  if (options.list_format == "json-schema") {
    require(options.room == "keys",
            "--format json-schema: there is one of the keys of a study alone; use 'residuum list "
            "keys --format json-schema'");
    print_json(study_schema());
    return ExitCode::done;
  }
  std::vector<std::string> known;
  auto json = nlohmann::json::object();
  for (const Room& room : rooms(commands)) {
    known.emplace_back(room.name);
    if (options.room.empty() ? room.is_of_others : options.room != room.name) {
      continue;
    }
    if (options.json) {
      json[room.name] = as_json(room.groups());
    } else if (options.list_format == "markdown") {
      fmt::print("{}",
                 as_markdown({.name = room.name,
                              .title = room.title,
                              .heads = room.heads,
                              .text = room.text,
                              .groups = room.groups()}));
    } else {
      print(room, options.room.empty());
    }
  }
  require(
      options.room.empty() || std::find(known.begin(), known.end(), options.room) != known.end(),
      "nothing called '{}' can be listed{}",
      options.room,
      suggestion(options.room, known));
  if (options.json) {
    print_json(json);
  }
  return ExitCode::done;
}

// `residuum info` prints the versions of every library, MPI, CPU, GPU and the git revision, and
// under mpirun the device that networks take in each process.

ExitCode info_command(const Options& options, World& world) {
  try {
    network_module();
  } catch (const Error& error) {
    if (world.is_root()) {
      say(fmt::format("note: {}", error.what()));
    }
  }
  const auto devices = network_devices(world, "auto");
  if (!world.is_root()) {
    return ExitCode::done;
  }
  auto json = nlohmann::json::object();
  for (const auto& [name, value] : versions()) {
    json[name] = value;
    if (!options.json) {
      fmt::print("{:<15} {}\n", name, value);
    }
  }
  json["devices"] = devices;
  for (std::size_t i = 0; i < devices.size() && !options.json; ++i) {
    fmt::print("{:<15} {}\n", i == 0 ? "devices" : "", devices[i]);
  }
  if (options.json) {
    print_json(json);
  }
  return ExitCode::done;
}

}  // namespace residuum
