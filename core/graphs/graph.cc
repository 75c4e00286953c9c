#include "core/graphs/graph.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/random/random.h"
#include "core/text.h"

namespace residuum {
namespace {

constexpr std::string_view kErdosRenyi = "erdos-renyi";

/// A graph word is "kind" or "kind:argument".
struct GraphWord {
  std::string_view text;
  std::string_view kind;
  std::optional<std::string_view> argument;
};

GraphWord split_graph_word(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return {.text = text, .kind = text, .argument = std::nullopt};
  }
  return {.text = text, .kind = text.substr(0, colon), .argument = text.substr(colon + 1)};
}

Link link_between(int a, int b) { return {.low = std::min(a, b), .high = std::max(a, b)}; }

std::vector<Link> ring_links(int workers) {
  std::vector<Link> links;
  links.reserve(static_cast<std::size_t>(workers));
  for (int i = 0; i < workers; ++i) {
    links.push_back(link_between(i, (i + 1) % workers));
  }
  return links;
}

/// Returns the largest r <= sqrt(workers) that divides `workers`, if it is at least 3.
std::optional<int> rows_of_torus(int workers) {
  const int root = static_cast<int>(std::sqrt(workers));
  for (int rows = root; rows >= 3; --rows) {
    if (workers % rows == 0) {
      return rows;
    }
  }
  return std::nullopt;
}

/// Returns "9 (3 x 3) and 12 (3 x 4)", the numbers of workers next to `workers` that make a torus.
std::string next_toruses(int workers) {
  const auto described = [](int n) {
    const int rows = *rows_of_torus(n);
    return fmt::format("{} ({} x {})", n, rows, n / rows);
  };
  constexpr int kSmallest = 9;
  int above = std::max(workers, kSmallest);
  while (!rows_of_torus(above)) {
    ++above;
  }
  int below = workers;
  while (below >= kSmallest && !rows_of_torus(below)) {
    --below;
  }
  return below < kSmallest ? described(above)
                           : fmt::format("{} and {}", described(below), described(above));
}

std::vector<Link> torus_links(int workers) {
  const std::optional<int> found = rows_of_torus(workers);
  require(found.has_value(),
          "graph 'torus' needs r x c workers with r and c at least 3, which {} is not; next to it: "
          "{}",
          workers,
          next_toruses(workers));
  const int rows = *found;
  const int columns = workers / rows;
  std::vector<Link> links;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < columns; ++c) {
      const int here = r * columns + c;
      links.push_back(link_between(here, r * columns + (c + 1) % columns));
      links.push_back(link_between(here, (r + 1) % rows * columns + c));
    }
  }
  return links;
}

std::vector<Link> hypercube_links(int workers) {
  const auto n = static_cast<unsigned>(workers);
  require(std::has_single_bit(n),
          "graph 'hypercube' needs a power of two as number of workers, which {} is not; next to "
          "it: {} and {}",
          workers,
          std::bit_floor(n),
          std::uint64_t{2} * std::bit_floor(n));
  std::vector<Link> links;
  for (unsigned i = 0; i < n; ++i) {
    for (unsigned bit = 1; bit < n; bit *= 2) {
      if ((i & bit) == 0) {
        links.push_back({.low = static_cast<int>(i), .high = static_cast<int>(i | bit)});
      }
    }
  }
  return links;
}

std::vector<Link> complete_links(int workers) {
  std::vector<Link> links;
  for (int low = 0; low < workers; ++low) {
    for (int high = low + 1; high < workers; ++high) {
      links.push_back({.low = low, .high = high});
    }
  }
  return links;
}

double edge_probability(const GraphWord& word) {
  const double probability = parsed<double>(word.argument.value_or("")).value_or(0);
  require(probability > 0 && probability <= 1,
          "graph '{}' needs the probability of an edge, above 0 and at most 1, after a colon, as "
          "in '{}:0.3'",
          word.text,
          kErdosRenyi);
  return probability;
}

/// Draws every pair of workers as an edge with the same probability.
struct ErdosRenyi {
  int workers;
  double probability;
  std::uint64_t seed;

  /// Worker `low` decides about the edges to higher workers, by a stream of its own.
  Graph draw(int attempt) const {
    std::vector<Link> links;
    for (int low = 0; low < workers; ++low) {
      RandomStream random(seed,
                          Purpose::graph,
                          static_cast<std::uint32_t>(low),
                          static_cast<std::uint32_t>(attempt));
      for (int high = low + 1; high < workers; ++high) {
        if (random.uniform() < probability) {
          links.push_back({.low = low, .high = high});
        }
      }
    }
    return {workers, std::move(links)};
  }
};

Graph connected_random_graph(const GraphWord& word, int workers, std::uint64_t seed) {
  const ErdosRenyi random{.workers = workers, .probability = edge_probability(word), .seed = seed};
  for (int attempt = 0; attempt < kMostGraphDraws; ++attempt) {
    Graph graph = random.draw(attempt);
    if (graph.is_connected()) {
      return graph;
    }
  }
  usage_error(
      "graph '{}' of {} workers was not connected in {} draws; a probability of ln(n)/n = {:.3g} "
      "or more would do",
      word.text,
      workers,
      kMostGraphDraws,
      std::log(workers) / workers);
}

/// Checks what can be checked of a word without knowing the number of workers.
void check_graph_word(const GraphWord& word) {
  if (word.kind == kErdosRenyi) {
    edge_probability(word);
    return;
  }
  const std::vector<std::string> kinds{"ring", "torus", "hypercube", "complete", "erdos-renyi"};
  if (std::find(kinds.begin(), kinds.end(), word.kind) == kinds.end()) {
    // A near word is suggested without its argument, a list has the words as they are written.
    const bool is_near = !nearest(word.kind, kinds).empty();
    usage_error(
        "unknown graph '{}'{}", word.text, suggestion(word.kind, is_near ? kinds : graph_words()));
  }
  require(
      !word.argument, "graph '{}' takes nothing after a colon; write '{}'", word.text, word.kind);
}

}  // namespace

Graph::Graph(int vertices, std::vector<Link> links) {
  assert(vertices >= 1);
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  });
  assert(std::adjacent_find(links.begin(), links.end()) == links.end());
  starts_.assign(static_cast<std::size_t>(vertices) + 1, 0);
  for (const Link& link : links) {
    assert(0 <= link.low && link.low < link.high && link.high < vertices);
    ++starts_[static_cast<std::size_t>(link.low) + 1];
    ++starts_[static_cast<std::size_t>(link.high) + 1];
  }
  for (std::size_t v = 1; v < starts_.size(); ++v) {
    starts_[v] += starts_[v - 1];
  }
  neighbours_.resize(2 * links.size());
  std::vector<std::size_t> next(starts_.begin(), starts_.end() - 1);
  const auto append = [&](int vertex, int neighbour) {
    neighbours_[next[static_cast<std::size_t>(vertex)]++] = neighbour;
  };
  // All lower neighbours come before all higher ones, and the links are in increasing order.
  for (const Link& link : links) {
    append(link.high, link.low);
  }
  for (const Link& link : links) {
    append(link.low, link.high);
  }
}

std::span<const int> Graph::neighbours(int vertex) const {
  assert(0 <= vertex && vertex < vertices());
  const auto v = static_cast<std::size_t>(vertex);
  return std::span(neighbours_).subspan(starts_[v], starts_[v + 1] - starts_[v]);
}

std::vector<Link> Graph::edges() const {
  std::vector<Link> links;
  links.reserve(neighbours_.size() / 2);
  for (int low = 0; low < vertices(); ++low) {
    for (const int high : neighbours(low)) {
      if (low < high) {
        links.push_back({.low = low, .high = high});
      }
    }
  }
  return links;
}

bool Graph::is_connected() const {
  std::vector<bool> reached(static_cast<std::size_t>(vertices()), false);
  std::vector<int> waiting{0};
  reached[0] = true;
  int count = 0;
  while (!waiting.empty()) {
    const int vertex = waiting.back();
    waiting.pop_back();
    ++count;
    for (const int neighbour : neighbours(vertex)) {
      if (!reached[static_cast<std::size_t>(neighbour)]) {
        reached[static_cast<std::size_t>(neighbour)] = true;
        waiting.push_back(neighbour);
      }
    }
  }
  return count == vertices();
}

const std::vector<std::string>& graph_words() {
  static const std::vector<std::string> words{
      "ring", "torus", "hypercube", "complete", "erdos-renyi:0.3"};
  return words;
}

Graph make_graph(std::string_view text, int workers, std::uint64_t seed) {
  const GraphWord word = split_graph_word(text);
  check_graph_word(word);
  require(workers >= 1, "graph '{}' needs at least 1 worker, not {}", text, workers);
  if (workers <= 2 || word.kind == "complete") {
    return {workers, complete_links(workers)};
  }
  if (word.kind == "ring") {
    return {workers, ring_links(workers)};
  }
  if (word.kind == "torus") {
    return {workers, torus_links(workers)};
  }
  if (word.kind == "hypercube") {
    return {workers, hypercube_links(workers)};
  }
  return connected_random_graph(word, workers, seed);
}

}  // namespace residuum
