#pragma once
// A link model is what virtual clocks assume of the links between workers: a message of n bytes
// takes alpha + beta n seconds, of which it keeps the port at either end busy for beta n.

#include <algorithm>
#include <string>

namespace residuum {

struct LinkModel {
  double alpha_s = 0;
  double beta_s_per_byte = 0;

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

/// A port is the end of a link. It sends one message at a time and receives one at a time, both at
/// once.
struct Port {
  double sends_until = 0;
  double receives_until = 0;

  /// Sends a message that is ready at `now` and keeps the port busy for so many seconds; returns
  /// when its end has left.
  double send(double now, double busy) {
    sends_until = std::max(now, sends_until) + busy;
    return sends_until;
  }
  /// Receives a message whose end would arrive at `arrival` if the port were free; returns when it
  /// does. A port receives messages in the order of the calls.
  double receive(double arrival, double busy) {
    receives_until = std::max(arrival, receives_until + busy);
    return receives_until;
  }
};

}  // namespace residuum
