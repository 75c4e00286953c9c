#pragma once
// This file reads [network], the links of virtual time.

#include <vector>

#include "core/cluster/link_model.h"
#include "core/config/section.h"
#include "core/messages/laws.h"
#include "core/training/overlap.h"

namespace residuum {

struct NetworkSection {
  std::vector<NetworkModel> networks;
  bool times_work = false;  // selections and merges take in virtual time what they take here
  Overlap overlap = {};
};

/// Reads
///   model             a network or a list of them, which have different names. A network is "none"
///                     (default: messages take no time), a name that `residuum list networks`
///                     shows, or a table with an optional `name`: {alpha_s, beta_s_per_byte}, or
///                     LogGP's L, o, g and G, {latency_s, overhead_s, gap_s, gap_s_per_byte};
///   workers_per_node  workers that share one link to the others, with `within`, the table of the
///                     links among them;
///   local             "none" (default) or "measured": what workers compute besides gradients;
///   overlap           "none" (default), "wfbp" or "merged": whether layers are exchanged while the
///                     gradients of others are computed, with
///   layer_times       "measured" (default) or a list of the fractions of a gradient's time after
///                     which those of the layers are ready.
/// A value out of range is a usage error, and so is a key that the protocol cannot have. Late
/// gradients depend on the network, so runs with them have one network, without nodes or local
/// work.
NetworkSection read_network(const Section& section, int workers, const ProtocolLaw& protocol);

/// A network that a study can name.
struct NamedNetwork {
  const char* name = "";
  const char* summary = "";
  const char* source = "";  // of alpha and beta
  LinkModel links;
};
const std::vector<NamedNetwork>& named_networks();

/// Returns the seconds of a byte on Ethernet of `bits_per_second`: a packet of 1538 bytes on the
/// wire carries 1448 bytes of a TCP stream. It returns the bits per second of a time per byte.
double ethernet_seconds_per_byte(double bits_per_second);
double ethernet_bits_per_second(double seconds_per_byte);

}  // namespace residuum
