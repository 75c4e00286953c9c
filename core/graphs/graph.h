#pragma once
// A Graph says which workers talk to each other in gossip (decentralised SGD). Its vertices are
// worker numbers; an edge has no direction, and no worker is its own neighbour.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace residuum {

/// A link is an edge without direction; low < high.
struct Link {
  int low = 0;
  int high = 0;
  friend bool operator==(const Link&, const Link&) = default;
};

class Graph {
 public:
  /// Makes the graph with these edges, which may come in any order, but each only once. There is at
  /// least one vertex.
  Graph(int vertices, std::vector<Link> links);

  int vertices() const { return static_cast<int>(starts_.size()) - 1; }
  /// Returns the neighbours in increasing order.
  std::span<const int> neighbours(int vertex) const;
  int degree(int vertex) const { return static_cast<int>(neighbours(vertex).size()); }
  /// Returns every edge once, in increasing order.
  std::vector<Link> edges() const;
  bool is_connected() const;

 private:
  std::vector<std::size_t> starts_;  ///< The neighbours of v lie from starts_[v] to starts_[v + 1].
  std::vector<int> neighbours_;
};

/// An Erdos-Renyi graph is drawn anew until it is connected, but at most this often.
inline constexpr int kMostGraphDraws = 100;

/// Returns the words that make_graph knows, as examples for messages and lists.
const std::vector<std::string>& graph_words();

/// Makes the connected graph that `text` names:
///   ring               worker i and i + 1, modulo n;
///   torus              the ring's product r x c, r c = n and 3 <= r <= c, as square as possible;
///   hypercube          workers whose numbers differ in one bit; n is a power of two;
///   complete           all pairs;
///   erdos-renyi:0.3    every pair with this probability, given that the graph is connected.
/// One or two workers have only one connected graph; every word stands for it then. Only the last
/// word draws at random: the result is a function of (text, workers, seed). A text or a number of
/// workers that does not fit is a usage error.
Graph make_graph(std::string_view text, int workers, std::uint64_t seed);

}  // namespace residuum
