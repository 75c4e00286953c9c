#include "experiments/program/study/network_section.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "core/error.h"
#include "core/text.h"

namespace residuum {
namespace {

constexpr double kWireBitsPerByte = 8 * (1538.0 / 1448.0);

constexpr const char* kTables =
    "a table {alpha_s, beta_s_per_byte} or {latency_s, overhead_s, gap_s, gap_s_per_byte}";

/// Returns a number of the table that is finite and at least 0.
double number_of(const nlohmann::json& table, const char* key, const std::string& where) {
  const auto found = table.find(key);
  const bool is_good = found != table.end() && found->is_number() &&
                       std::isfinite(found->get<double>()) && found->get<double>() >= 0;
  require(is_good,
          "{} must be {} of numbers that are finite and at least 0; got {}",
          where,
          kTables,
          shown(table));
  return found->get<double>();
}

/// Reads links from a table that has their numbers alone.
LinkModel links_of(const nlohmann::json& table, const std::string& where) {
  const bool is_log_gp = table.contains("latency_s");
  require(table.is_object() && table.size() == (is_log_gp ? 4 : 2),
          "{} must be {}; got {}",
          where,
          kTables,
          shown(table));
  if (!is_log_gp) {
    return {.alpha_s = number_of(table, "alpha_s", where),
            .beta_s_per_byte = number_of(table, "beta_s_per_byte", where)};
  }
  const double latency = number_of(table, "latency_s", where);
  const double gap = number_of(table, "gap_s", where);
  const double per_byte = number_of(table, "gap_s_per_byte", where);
  require(latency >= per_byte,
          "{}: a latency of {} s is below the {} s of one byte; latency_s must be at least "
          "gap_s_per_byte",
          where,
          latency,
          per_byte);
  require(
      gap >= per_byte,
      "{}: a gap of {} s between messages is below the {} s of one byte; gap_s must be at least "
      "gap_s_per_byte",
      where,
      gap,
      per_byte);
  return LinkModel::log_gp(latency, number_of(table, "overhead_s", where), gap, per_byte);
}

/// Names a network by the numbers of its table.
std::string name_of(const nlohmann::json& table) {
  const auto number = [&](const char* key) { return table[key].get<double>(); };
  return table.contains("latency_s")
             ? fmt::format("L={}s o={}s g={}s G={}s/byte",
                           number("latency_s"),
                           number("overhead_s"),
                           number("gap_s"),
                           number("gap_s_per_byte"))
             : fmt::format("{}s+{}s/byte", number("alpha_s"), number("beta_s_per_byte"));
}

NetworkModel named(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const auto& known : named_networks()) {
    if (name == known.name) {
      return {.name = name, .links = known.links};
    }
    names.emplace_back(known.name);
  }
  usage_error("{}: unknown network '{}'{}; a table {{alpha_s, beta_s_per_byte}} makes another",
              where,
              name,
              suggestion(name, names));
}

NetworkModel of_table(const nlohmann::json& table, const std::string& where) {
  auto numbers = table;
  numbers.erase("name");
  const LinkModel links = links_of(numbers, where);
  if (!table.contains("name")) {
    return {.name = name_of(numbers), .links = links};
  }
  const auto& name = table["name"];
  const bool is_text = name.is_string() && !name.get_ref<const std::string&>().empty();
  require(is_text && harmless(name.get<std::string>()) == name.get_ref<const std::string&>(),
          "{}: the name of a network must be a text of one line, got {}",
          where,
          shown(name));
  return {.name = name.get<std::string>(), .links = links};
}

NetworkModel network_of(const nlohmann::json& model, const std::string& where) {
  require(model.is_string() || model.is_object(),
          "{} must be a network's name (residuum list networks), {}, or a list of these; got {}",
          where,
          kTables,
          shown(model));
  return model.is_string() ? named(model.get<std::string>(), where) : of_table(model, where);
}

std::vector<NetworkModel> networks_of(const nlohmann::json& model, const std::string& where) {
  if (!model.is_array()) {
    return {network_of(model, where)};
  }
  require(!model.empty(), "{} is an empty list; name at least one network", where);
  std::vector<NetworkModel> networks;
  std::set<std::string> names;
  for (const auto& one : model) {
    networks.push_back(network_of(one, where));
    require(names.insert(networks.back().name).second,
            "{} has the network '{}' twice; give each a name of its own",
            where,
            networks.back().name);
  }
  return networks;
}

/// Reads which workers share a node, and their links.
void read_nodes(const Section& section, int workers, std::vector<NetworkModel>& networks) {
  const bool has_nodes = section.has("workers_per_node");
  const bool has_within = section.has("within");
  if (!has_nodes && !has_within) {
    return;
  }
  require(has_nodes && has_within,
          "{} and {} belong together: how many workers share a link, and the table of the links "
          "among them",
          section.where("workers_per_node"),
          section.where("within"));
  const auto per_node = section.integer("workers_per_node");
  require(per_node >= 1 && per_node <= workers && workers % per_node == 0,
          "{} must divide the {} workers, got {}",
          section.where("workers_per_node"),
          workers,
          per_node);
  const LinkModel within = links_of(section.any("within"), section.where("within"));
  for (NetworkModel& network : networks) {
    network.workers_per_node = static_cast<int>(per_node);
    network.within = within;
  }
}

/// Returns the fractions of the layers; none where they are to be measured, or exchanges do not
/// overlap.
std::vector<double> read_layer_times(const Section& section, bool overlaps) {
  const auto value = section.if_used(overlaps).any("layer_times", "measured").value_or("measured");
  if (value == "measured") {
    return {};
  }
  const auto is_fraction = [](const nlohmann::json& one) {
    return one.is_number() && one.get<double>() > 0 && one.get<double>() <= 1;
  };
  require(
      value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), is_fraction),
      "{} must be \"measured\" or a list of numbers in (0, 1], the part of a gradient's time for "
      "each layer; got {}",
      section.where("layer_times"),
      shown(value));
  return value.get<std::vector<double>>();
}

Overlap read_overlap(const Section& section) {
  Overlap overlap{.place = section.where("overlap"),
                  .place_of_ready = section.where("layer_times")};
  const auto rule = section.choice("overlap", {"none", "wfbp", "merged"}, "none");
  overlap.ready = read_layer_times(section, rule != "none");
  if (rule == "none") {
    require(section.has("overlap") || !section.has("layer_times") ||
                section.given()["layer_times"] == "measured",
            "{} says when layers can be exchanged, which 'network.overlap' turns on; set it to "
            "\"wfbp\" or \"merged\"",
            section.where("layer_times"));
    return overlap;  // beside "none" a sweep may have the others, with their layer_times
  }
  overlap.rule = rule == "wfbp" ? OverlapRule::wait_free : OverlapRule::merged;
  return overlap;
}

void check_late(const Section& section, const NetworkSection& read) {
  require(read.networks.size() == 1,
          "{}: late gradients depend on the network, so that each network is a run of its own; "
          "sweep over network.model",
          section.where("model"));
  require(read.networks.front().workers_per_node == 1 && !read.times_work,
          "{}: protocols with late gradients have nodes of their own (protocol.nodes) and take "
          "local work as free; leave out workers_per_node, within and local",
          section.where("model"));
  const LinkModel& links = read.networks.front().links;
  require(
      links.overhead_s == 0 && links.gap_s == 0,
      "{}: protocols with late gradients know links {{alpha_s, beta_s_per_byte}} alone, without "
      "overhead_s and gap_s",
      section.where("model"));
}

}  // namespace

double ethernet_seconds_per_byte(double bits_per_second) {
  return kWireBitsPerByte / bits_per_second;
}

double ethernet_bits_per_second(double seconds_per_byte) {
  return kWireBitsPerByte / seconds_per_byte;
}

const std::vector<NamedNetwork>& named_networks() {
  static const std::vector<NamedNetwork> networks{
      {"none", "messages take no time", "", {}},
      {"100mbit",
       "Fast Ethernet: 0.436 ms, TCP at 100 Mbit/s",
       "the latency of 1gbe is assumed",
       {.alpha_s = 4.36e-4, .beta_s_per_byte = ethernet_seconds_per_byte(1e8)}},
      {"1gbe",
       "Gigabit Ethernet: 0.436 ms, 36 ns for 4 bytes",
       "fitted by Shi et al., ICDCS 2019",
       {.alpha_s = 4.36e-4, .beta_s_per_byte = 9e-9}},
      {"10gbe",
       "10 Gigabit Ethernet: 0.0436 ms, TCP at 10 Gbit/s",
       "a tenth of the latency of 1gbe is assumed",
       {.alpha_s = 4.36e-5, .beta_s_per_byte = ethernet_seconds_per_byte(1e10)}}};
  return networks;
}

NetworkSection read_network(const Section& section, int workers, const ProtocolLaw& protocol) {
  NetworkSection read{.networks =
                          networks_of(section.any("model", "none"), section.where("model"))};
  read_nodes(section, workers, read.networks);
  read.times_work = section.choice("local", {"none", "measured"}, "none") == "measured";
  read.overlap = read_overlap(section);
  if (clocks_decide(protocol)) {
    check_late(section, read);
  }
  return read;
}

}  // namespace residuum
