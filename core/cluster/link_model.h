#pragma once
// A link model gives virtual clocks the time of messages between workers. A message of n bytes
// takes alpha + beta n seconds; for beta n of them it keeps the port at either end busy. LogGP
// (Alexandrov, Ionescu, Schauser, Scheiman, SPAA 1995) adds what a message costs either worker, the
// overhead o, and the gap g that a port keeps between two messages.

#include <algorithm>
#include <string>

namespace residuum {

struct LinkModel {
  double alpha_s = 0;
  double beta_s_per_byte = 0;
  double overhead_s = 0;  // in which a worker hands a message to its port, or takes it
  double gap_s = 0;       // in which a port is idle after each message and the time of its bytes

  /// Returns a link on which n bytes take o + L + (n-1) G + o seconds, and of whose messages the
  /// next begins g after the last byte of the one before. Requires L >= G and g >= G.
  static LinkModel log_gp(double latency_s,
                          double overhead_s,
                          double gap_s,
                          double gap_s_per_byte) {
    return {.alpha_s = latency_s - gap_s_per_byte,
            .beta_s_per_byte = gap_s_per_byte,
            .overhead_s = overhead_s,
            .gap_s = gap_s - gap_s_per_byte};
  }
  bool operator==(const LinkModel&) const = default;
};

/// A network joins workers by equal links. With several workers to a node, those of a node share
/// one link to the other nodes and have links of another kind among themselves.
struct NetworkModel {
  std::string name = "none";
  LinkModel links;        // between nodes
  LinkModel within = {};  // between the workers of a node
  int workers_per_node = 1;

  bool operator==(const NetworkModel&) const = default;
};

/// A port is the end of a link. It is full duplex: one send and one receive can be in progress at
/// the same time.
struct Port {
  double sends_until = 0;
  double receives_until = 0;

  /// Sends a message that is ready at `now`, keeps the port busy for `busy` seconds and then idle
  /// for `gap`; returns when its end has left.
  double send(double now, double busy, double gap = 0) {
    const double end = std::max(now, sends_until) + busy;
    sends_until = end + gap;
    return end;
  }
  /// Receives a message whose end would arrive at `arrival` if the port were free; returns when it
  /// does. A port receives messages in the order of the calls.
  double receive(double arrival, double busy, double gap = 0) {
    const double end = std::max(arrival, receives_until + busy);
    receives_until = end + gap;
    return end;
  }
};

}  // namespace residuum
